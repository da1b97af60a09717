import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createFleet } from '../../src/sandbox/fleet.ts'
import {
  type Progress,
  runSimulation,
  type SimulationOptions,
  type SimulationOutcome,
} from '../../src/sandbox/simulation.ts'
import { speeches } from '../../src/sandbox/speak/index.ts'
import { acknowledgesFixes } from '../rig/vans.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const ANSWERED = speeches.filter(acknowledgesFixes)
/** Only vans that get answers, because without them a lost datagram stays lost. */
const VANS = createFleet(ANSWERED.length, ANSWERED)
/** Behaviour of the gateway, with the longest wait for an answer, ms. */
const MOODS = [
  ['good', 20_000],
  ['lost', 500],
  ['deaf', 500],
] as const

describe.each(MOODS)('a gateway that is %s', (mood, answerMs) => {
  let receiver: Receiver
  let outcome: SimulationOutcome

  beforeAll(async () => {
    receiver = await startReceiver()
    receiver.mood = mood
    outcome = await simulate(receiver, { durationMs: 4000, answerMs, onProgress: recovering(receiver) })
  })
  afterAll(() => receiver.close())

  it('all fixes are acknowledged in the end', () => {
    expect([outcome.sent, outcome.acked, outcome.troubled]).toEqual([4 * VANS.length, 4 * VANS.length, 0])
  })

  it.each(VANS.map((van) => [van.speech.name, van.id]))('%s sends every fix in order', (_, id) => {
    const made = outcome.trips.get(id)?.sent.map(({ time }) => time)
    const arrived = times(receiver, id)
    expect([...new Set(arrived)]).toEqual(made)
    if (mood === 'good') expect(arrived).toEqual(made)
    if (mood === 'deaf') expect(arrived.length).toBeGreaterThan(4)
  })
})

describe('a simulation', () => {
  let receiver: Receiver
  beforeEach(async () => {
    receiver = await startReceiver()
  })
  afterEach(() => receiver.close())

  it('a simulation says why nothing is acknowledged if nothing listens, and gives up after its patience', async () => {
    const [van] = VANS
    const closed = await startReceiver()
    await closed.close()
    const outcome = await simulate(closed, { vans: [van], durationMs: 1000, patienceMs: 1000 })
    expect([outcome.sent, outcome.acked, outcome.troubled]).toEqual([1, 0, 1])
    expect(outcome.trouble).toMatch(/^connection refused \(127\.0\.0\.1:\d+\)$/)
    expect(outcome.trips.get(van.id)?.acked).toBe(0)
  })

  it('a simulation makes no more fixes after a stop, and waits for those in progress', async () => {
    const stop = new AbortController()
    const progress: Progress[] = []
    const outcome = await simulate(receiver, {
      durationMs: Infinity,
      stop: stop.signal,
      onProgress: (now) => {
        progress.push(now)
        if (now.sent >= VANS.length) stop.abort()
      },
    })
    expect(outcome.sent).toBeGreaterThanOrEqual(VANS.length)
    expect(outcome.acked).toBe(outcome.sent)
    expect(progress[0].phase).toBe('driving')
    expect(outcome.phase).toBe('waiting')
  })

  it('a simulation ends at once when it has to hurry', async () => {
    receiver.mood = 'lost'
    const hurry = new AbortController()
    const outcome = await simulate(receiver, {
      durationMs: Infinity,
      patienceMs: 3_600_000,
      hurry: hurry.signal,
      onProgress: ({ sent }) => sent >= VANS.length && hurry.abort(),
    })
    expect(outcome.sent).toBeGreaterThanOrEqual(VANS.length)
    expect(outcome.acked).toBe(0)
  })

  it('a simulation counts fixes of protocols without answers when they are written', async () => {
    const others = speeches.filter((speech) => !acknowledgesFixes(speech))
    const vans = createFleet(others.length, others)
    const outcome = await simulate(receiver, { vans, durationMs: 3000 })
    expect([outcome.sent, outcome.acked, outcome.troubled]).toEqual([3 * vans.length, 3 * vans.length, 0])
    const arrived = () => vans.map(({ id }) => times(receiver, id))
    await expect.poll(arrived).toEqual(vans.map(({ id }) => outcome.trips.get(id)?.sent.map(({ time }) => time)))
    const closed = await startReceiver()
    await closed.close()
    const lost = await simulate(closed, { vans, durationMs: 1000, patienceMs: 1000 })
    expect([lost.acked, lost.troubled]).toEqual([0, vans.length])
  })

  it('a simulation refuses vans without a known port', async () => {
    const ports = { 'tcp/gt06': 1 }
    await expect(simulate({ ...receiver, ports }, {})).rejects.toThrow('The gateway has no listener for tcp/teltonika')
  })

  it('a simulation delivers every fix of a thousand vans', async () => {
    const vans = createFleet(1000, speeches)
    const outcome = await simulate(receiver, { vans, durationMs: 2000, answerMs: 10_000, patienceMs: 60_000 })
    expect([outcome.sent, outcome.acked]).toEqual([2000, 2000])
    // A fix is sent again if its datagram or answer is lost on a busy machine.
    const distinct = () =>
      receiver.fixes.values().reduce((sum, fixes) => sum + new Set(fixes.map(({ time }) => time)).size, 0)
    // A fix without an answer counts when it is written.
    await expect.poll(distinct).toBe(2000)
  })
})

function simulate({ ports }: Pick<Receiver, 'ports'>, options: Partial<SimulationOptions>): Promise<SimulationOutcome> {
  return runSimulation({
    host: '127.0.0.1',
    ports,
    vans: VANS,
    intervalMs: 1000,
    durationMs: 2500,
    patienceMs: 20_000,
    answerMs: 500,
    seed: 1,
    keepTrips: true,
    progressMs: 50,
    ...options,
  })
}

/** Returns a progress callback after which the gateway answers when each van has sent something. */
function recovering(receiver: Receiver): (progress: Progress) => void {
  return ({ sent }) => {
    const isHeard = receiver.mood !== 'deaf' || receiver.fixes.size === VANS.length
    if (sent >= 2 * VANS.length && isHeard) receiver.mood = 'good'
  }
}

function times({ fixes }: Receiver, id: string): number[] {
  return (fixes.get(id) ?? []).map(({ time }) => time)
}
