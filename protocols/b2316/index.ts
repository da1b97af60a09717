/*
 * B2316 wristbands. No specification is known: inferred from frames. UDP, JSON:
 *
 *   {"imei":I,"data":[{"tm":T,…},…]}
 *
 *   I  IMEI     T  unix seconds
 *
 * Of the entries only reports without a position are known: ci cells, wi Wi-Fi, te temperature, hr and bp of the heart, st
 * steps, ba battery (4: 100 %, 3: 80 %, inferred; below it is not known), sn signal, wn warning, ic and ve of the card and the
 * firmware. A frame with other keys may hold a position. Nothing is answered.
 */
import { DecodeError, type Message, objectOf, type Protocol, parseJson, said, trimEnd } from '../kit/index.ts'

export default {
  name: 'b2316',
  devices: 'B2316 wristbands',
  udp: { port: 5230 },
  decode,
} satisfies Protocol

/** The charge of the battery, by its level. */
const PERCENT = new Map<unknown, number>([
  [3, 80],
  [4, 100],
])
const KNOWN = new Set(['tm', 'ci', 'wi', 'te', 'hr', 'bp', 'st', 'ba', 'sn', 'wn', 'ic', 've'])

function decode(frame: Buffer): Message {
  const { imei, data } = objectOf(parseJson(trimEnd(frame).toString()), 'the message')
  if (typeof imei !== 'string' || !Array.isArray(data)) throw new DecodeError('unsupported')
  const entries = data.map((entry) => objectOf(entry, 'an entry'))
  const names = new Set(entries.flatMap((entry) => Object.keys(entry)))
  if ([...names].some((name) => !KNOWN.has(name))) return { device: imei, fixes: [] }
  const level = entries.findLast(({ ba }) => ba !== undefined)?.ba
  const says = said({ battery_percent: PERCENT.get(level) })
  return { device: imei, none: names.has('wi') ? 'wifi' : names.has('ci') ? 'cells' : 'status', said: says }
}
