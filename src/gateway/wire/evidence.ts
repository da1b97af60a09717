import type { Message } from '../../../protocols/kit/index.ts'
import { isImei } from '../../domain/ids.ts'
import { say, type Text } from '../../texts/text.ts'

/** One piece of evidence for a protocol, or against it. */
export type Evidence = [words: Text, weight: number]

export function weighId(id: string): Evidence {
  if (/^\w{1,2}$/.test(id)) return [say('{} is short for an id', id), 0]
  if (!/^[\x21-\x7e]{3,64}$/.test(id)) return [say('{} is hardly an id', JSON.stringify(id.slice(0, 20))), -30]
  if (isImei(id)) return [say('{} is an IMEI', id), 20]
  if (/^\d{15}$/.test(id)) return [say('{} has the length of an IMEI', id), 8]
  return /^\d{10,16}$/.test(id) ? [say('{} is a long number', id), 6] : [say('{} may be an id', id), 2]
}

/** Returns the evidence in the position of a message; `now`: ms UTC. */
export function weighFixes({ fixes = [] }: Message, now: number): Evidence {
  if (!fixes.some(({ valid }) => valid)) return [say('it has no valid position'), 1]
  const isPlausible = fixes.every(
    ({ latitude, longitude, time, valid }) =>
      !valid || (Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 && time > EARLIEST_MS && time < now + DAY_MS),
  )
  if (!isPlausible) return [say('its position is not plausible'), -20]
  // The more fields a decoder has read, the more likely the frame is of its protocol.
  const [{ altitude, heading, hdop, satellites, speed }] = fixes
  const read = [altitude, heading, hdop, satellites, speed].filter((value) => value !== undefined)
  return [say('its position is plausible'), 10 + read.length / 10]
}

const DAY_MS = 86_400_000
const EARLIEST_MS = Date.UTC(2000, 0, 1)
