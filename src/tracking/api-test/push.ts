import { setTimeout as sleep } from 'node:timers/promises'
import { say } from '../../texts/text.ts'
import { exactJson } from '../body.ts'
import type { TrackingClient } from '../client.ts'
import { isSuccess } from '../exchange.ts'
import type { CourierPosition } from '../schemas.ts'
import { type AskedCompany, CORRECT_LANE, NEW_TOKEN, NO_LANE, refusedStep, saying, unanswered } from './answers.ts'
import { readPositions } from './reading.ts'
import { failed, ok, skipped, type TestStep } from './step.ts'

/** Pushes one position to the lane of a company, at its last position, else at 0, 0, and reads it back. */
export async function testPush(
  client: TrackingClient,
  company: AskedCompany,
  { apikey, last }: { readonly apikey: string; readonly last?: CourierPosition },
): Promise<TestStep[]> {
  const { courier, route } = company.lane ?? NO_LANE
  const timestamp = Math.floor(Date.now() / 1000)
  const { lat, lon } = last ?? { lat: 0, lon: 0 }
  const body = exactJson({ positions: [{ timestamp, point: { lat, lon }, accuracy: ACCURACY_M }] })
  const answer = await client.push({ courier, route, apikey, body })
  if (!('status' in answer)) return [unanswered('push', client, answer), skipped('read_back')]
  const { status, text } = answer
  if (!isSuccess(status) && !ABOUT_LANE.has(status))
    return [refusedStep('push', status, saying(status, text)), skipped('read_back')]
  if (!isSuccess(status)) {
    const seen = say('the API refuses a position of courier {} on route {}: {}', courier, route, saying(status, text))
    return [failed('push', seen, CORRECT_LANE), skipped('read_back')]
  }
  const when = new Date(timestamp * 1000).toISOString().replace('.000Z', 'Z')
  const pushed = ok(
    'push',
    say('a position of courier {} on route {} at {}, {} of {} is taken ({})', courier, route, lat, lon, when, status),
  )
  return [pushed, await readBack(client, company, { timestamp, lat, lon })]
}

/** Reads several times, because an API may show an accepted position a moment later. */
async function readBack(client: TrackingClient, company: AskedCompany, pushed: CourierPosition): Promise<TestStep> {
  const began = performance.now()
  const interval = { from: pushed.timestamp, to: pushed.timestamp }
  for (;;) {
    const answer = await readPositions(client, company, interval)
    if (!answer) return failed('read_back', say('there is no oauth_token to read it back with'), NEW_TOKEN)
    if (!('positions' in answer)) {
      if (!('status' in answer)) return unanswered('read_back', client, answer)
      return refusedStep('read_back', answer.status, saying(answer.status, answer.text))
    }
    const { positions } = answer
    const ms = performance.now() - began
    if (positions.some((other) => isSame(other, pushed)))
      return ok('read_back', say('it is read back after {} s', Math.round(ms / 100) / 10))
    if (ms > client.timeoutMs) {
      const seen = say(
        'it is not among the {} positions of its second after {} s',
        positions.length,
        client.timeoutMs / 1000,
      )
      return failed('read_back', seen, say('tell who runs the tracking API: what it takes is not there'))
    }
    await sleep(AGAIN_MS)
  }
}

function isSame(one: CourierPosition, other: CourierPosition): boolean {
  const isNear = Math.abs(one.lat - other.lat) < 1e-5 && Math.abs(one.lon - other.lon) < 1e-5
  return isNear && one.timestamp === other.timestamp
}

const ABOUT_LANE = new Set([403, 404, 422])
const ACCURACY_M = 50
const AGAIN_MS = 250
