import { expect, it } from 'vitest'
import type { Sender } from '../../src/gateway/conversation.ts'
import { DeviceTrail, Trails } from '../../src/gateway/suspicion.ts'
import type { Whereabouts } from '../../src/gateway/tracks.ts'
import { seeded } from '../../src/sandbox/random.ts'
import { inEnglish } from '../support/texts.ts'

const START = Date.UTC(2026, 9, 1) / 1000
const MINUTE = 60
const HOUR = 3600
const DAY = 86_400
const DEPOT = { latitude: 52.52, longitude: 13.4 }
const PARIS = { latitude: 48.86, longitude: 2.35 }
/** Where a van is that has driven for ten minutes. */
const ON_THE_WAY = { latitude: 52.63, longitude: 13.4 }
const SHENZHEN = { latitude: 22.54, longitude: 114.06 }

/** Degrees for metres to the north. */
const north = (metres: number) => metres / 111_195

/** The codes that a trail gives for places, each once, in order. */
function codesOf(places: Iterable<Whereabouts>, trail = new DeviceTrail()): string[] {
  const codes = new Set<string>()
  for (const place of places) {
    trail.isOff(place, place.timestamp)
    if (trail.suspicion) codes.add(trail.suspicion.code)
  }
  return [...codes]
}

/** A van that drives north at 20 m/s, with a fix every `every` seconds. */
function* drive(from: number, count: number, { every = 30, at = DEPOT } = {}): Generator<Whereabouts> {
  for (let fix = 0; fix < count; fix++)
    yield { timestamp: from + fix * every, latitude: at.latitude + north(20 * every * fix), longitude: at.longitude }
}

function* inTurns(...all: Generator<Whereabouts>[]): Generator<Whereabouts> {
  for (;;)
    for (const one of all) {
      const { value, done } = one.next()
      if (done) return
      yield value
    }
}

it('notices a stolen id while the van goes on, as it is in two places', () => {
  const trail = new DeviceTrail()
  expect(codesOf(drive(START, 20), trail)).toEqual([])
  const both = inTurns(drive(START + 600, 8, { at: ON_THE_WAY }), drive(START + 615, 8, { at: PARIS }))
  expect(codesOf(both, trail)).toEqual(['claimed_twice'])
  expect(inEnglish(trail.suspicion?.evidence)).toBe('52.67,13.40 at 00:13 UTC; 48.90,2.35 at 00:13 UTC')
})

it('notices a stolen id while the van is silent, as it moves impossibly', () => {
  const trail = new DeviceTrail()
  codesOf(drive(START, 20), trail)
  expect(codesOf(drive(START + 630, 4, { at: PARIS }), trail)).toEqual([])
  expect(codesOf(drive(START + 750, 2, { at: PARIS }), trail)).toEqual(['impossible_move'])
})

it('notices a stolen id if only the longitude differs, and not a van that crosses 180 degrees', () => {
  const trail = new DeviceTrail()
  const [west, east] = [179.99, -179.99].map((longitude) => ({ latitude: -17, longitude }))
  expect(codesOf(drive(START, 20, { at: west }), trail)).toEqual([])
  expect(codesOf(drive(START + 630, 10, { at: east }), trail)).toEqual([])
  expect(codesOf(drive(START + 960, 10, { at: { latitude: -17, longitude: 177 } }), trail)).toEqual(['impossible_move'])
})

it('notices a stolen id when old times are sent again from another place', () => {
  const trail = new DeviceTrail()
  codesOf(drive(START, 20), trail)
  expect(codesOf(inTurns(drive(START, 9, { at: PARIS }), drive(START + 600, 9, { at: ON_THE_WAY })), trail)).toEqual([
    'claimed_twice',
  ])
})

it('ends the suspicion when the device has been at the other place for ten minutes', () => {
  const trail = new DeviceTrail()
  codesOf(drive(START, 20), trail)
  codesOf(drive(START + 630, 22, { at: PARIS }), trail)
  expect(codesOf(drive(START + 630 + 22 * 30, 20, { at: { latitude: 48.98, longitude: 2.35 } }), trail)).toEqual([])
})

it('the fixes of a thief are off the track, and those of the van are not', () => {
  const trail = new DeviceTrail()
  for (const place of drive(START, 20)) expect(trail.isOff(place, place.timestamp)).toBe(false)
  for (const place of inTurns(drive(START + 570, 9, { at: PARIS }), drive(START + 600, 9, { at: ON_THE_WAY })))
    expect(trail.isOff(place, place.timestamp)).toBe(place.latitude < 50)
})

/** How many fixes of the van, which drives, and of somebody in Paris are off the track; each arrives at its time. */
function offBeside(van: Generator<Whereabouts>, other: Generator<Whereabouts>, trail = new DeviceTrail()) {
  const all = [...van, ...other].toSorted((one, next) => one.timestamp - next.timestamp)
  const off = all.filter((place) => trail.isOff(place, place.timestamp))
  const ofOther = off.filter(({ longitude }) => longitude === PARIS.longitude).length
  return { van: off.length - ofOther, other: ofOther }
}

it('a forged frame with fixes of many minutes does not move the track, as all arrive at once', () => {
  const trail = new DeviceTrail()
  codesOf(drive(START, 20), trail)
  const at = START + 571
  for (const place of drive(at, 6, { every: 150, at: PARIS })) expect(trail.isOff(place, at)).toBe(true)
  for (const place of drive(START + 600, 20, { at: ON_THE_WAY }))
    expect(trail.isOff(place, place.timestamp)).toBe(false)
})

it('a first forged frame makes no track, so that the van goes on', () => {
  const trail = new DeviceTrail()
  for (const place of drive(START - 800, 100, { every: 8, at: PARIS })) trail.isOff(place, START)
  for (const place of drive(START + 1, 20)) expect(trail.isOff(place, place.timestamp)).toBe(false)
})

it.for([
  ['a second', 30, 1],
  ['nine minutes', 30, 540],
  ['ten seconds, and the van every 20 minutes', 1200, 10],
] as const)('fixes of another sender are off the track as long as both send: one every %s', ([, vanEvery, every]) => {
  const trail = new DeviceTrail()
  codesOf(drive(START, 12, { every: vanEvery }), trail)
  const from = START + 12 * vanEvery
  const at = { ...DEPOT, latitude: DEPOT.latitude + north(20 * vanEvery * 12) }
  const van = drive(from, Math.ceil((4 * HOUR) / vanEvery), { every: vanEvery, at })
  const other = drive(from + 5, Math.ceil((4 * HOUR) / every), { every, at: PARIS })
  expect(offBeside(van, other, trail)).toEqual({ van: 0, other: Math.ceil((4 * HOUR) / every) })
})

/** Returns the code for each of these senders, one after the other. */
const hear = (senders: readonly Sender[], every = 10) => {
  const trail = new DeviceTrail()
  return senders.map((sender, index) => trail.heard(sender, START + index * every)?.code)
}

/** Returns after how many seconds senders that take turns are noticed to be two; undefined: never. */
function toldAfter(turns: readonly (readonly [Sender, Generator<Whereabouts>])[], every: number, count = 6) {
  const trail = new DeviceTrail()
  for (let index = 0; index < count; index++) {
    const [sender, drives] = turns[index % turns.length]
    const at = START + index * every
    if (trail.heard({ ...sender }, at)) return index * every
    const { value } = drives.next()
    if (value) trail.isOff({ ...value, timestamp: at }, at)
  }
  return undefined
}

const van: Sender = { protocol: 'teltonika', network: '192.0.2.0/24', connectedAt: 1 }
const thief: Sender = { protocol: 'teltonika', network: '198.51.100.0/24', connectedAt: 2 }
it('notices two senders when an older connection speaks again after a newer one, twice', () => {
  expect(hear([van, thief, van, thief])).toEqual([undefined, undefined, undefined, 'claimed_twice'])
})

it('notices two senders in one network if they speak different protocols', () => {
  expect(
    hear([van, { ...van, protocol: 'h02', connectedAt: 3 }, van, { ...van, protocol: 'h02', connectedAt: 3 }])[3],
  ).toBe('claimed_twice')
})

it('notices two senders over UDP only after some turns, since a datagram has no connection', () => {
  const [one, other] = [van, thief].map((sender) => ({ ...sender, connectedAt: 0 }))
  const codes = hear([one, other, one, other, one, other, one, other])
  expect(codes).toEqual([...Array<undefined>(7).fill(undefined), 'claimed_twice'])
})

it.for([0, 1])(
  'notices two senders at once if each goes on at places of its own, connected since %i',
  (connectedAt) => {
    const [one, other] = [van, thief].map((sender) => ({ ...sender, connectedAt }))
    const [here, there] = [drive(START, 9), drive(START, 9, { at: PARIS })]
    expect(
      toldAfter(
        [
          [one, here],
          [{ ...other, connectedAt: 2 * connectedAt }, there],
        ],
        7,
      ),
    ).toBeLessThanOrEqual(28)
  },
)

it('does not take a van whose address changes with each datagram for two, even if its receiver jumps', () => {
  const [one, other] = [van, thief].map((sender) => ({ ...sender, connectedAt: 0 }))
  const own = drive(START, 99, { every: 7 })
  expect(
    toldAfter(
      [
        [one, own],
        [other, own],
      ],
      7,
      7,
    ),
  ).toBeUndefined()
  function* jumping(): Generator<Whereabouts> {
    for (const [index, place] of [...drive(START, 12, { every: 7 })].entries())
      yield index % 4 === 1 ? { ...place, ...PARIS } : place
  }
  const jumps = jumping()
  expect(
    toldAfter(
      [
        [one, jumps],
        [other, jumps],
      ],
      7,
      7,
    ),
  ).toBeUndefined()
})

it('names two senders by their networks and protocols', () => {
  const trail = new DeviceTrail()
  for (const sender of [van, thief, van]) trail.heard(sender, START)
  expect(inEnglish(trail.heard(thief, START)?.evidence)).toBe(
    'teltonika from 192.0.2.0/24 and teltonika from 198.51.100.0/24 in turns',
  )
})

it.for([
  ['a SIM card that was swapped', [van, van, thief, thief, thief]],
  [
    'a tracker that connects from two networks in turn',
    [1, 2, 3, 4, 5, 6, 7, 8].map((n) => ({ ...(n % 2 ? van : thief), connectedAt: n })),
  ],
  ['late bytes of an old connection', [van, thief, van]],
] as const)('does not take %s for two senders', ([, senders]) => {
  expect(hear(senders)).toEqual(senders.map(() => undefined))
})

it('does not report two senders that take turns an hour apart', () => {
  expect(hear([van, thief, van, thief, van, thief], HOUR)).toEqual(Array(6).fill(undefined))
})

/** Fixes of one van, in the order in which they are sent. */
function* month(seed: number): Generator<Whereabouts> {
  const random = seeded(seed)
  let { latitude, longitude } = DEPOT
  let restartedAt = 0
  for (let day = 0; day < 30; day++) {
    let time = START + day * DAY + 6 * HOUR + Math.floor(random() * HOUR)
    // Asleep at night, then a cold start, whose first fix is anywhere: near, in another country, or where it was made.
    const first = [undefined, SHENZHEN, PARIS, { latitude: latitude + 0.4, longitude }][Math.floor(random() * 4)]
    if (first) yield { timestamp: time, ...first }
    const kept: Whereabouts[] = []
    for (const end = time + 9 * HOUR; time < end; ) {
      const what = random()
      if (what < 0.002) {
        // A tunnel: silent, or guesses that drift by some kilometres.
        time += 5 * MINUTE
        latitude += north(6000)
        yield { timestamp: time, latitude: latitude + north(3000), longitude }
      } else if (what < 0.004) {
        // A ferry: two hours without a fix, 60 km further.
        time += 2 * HOUR
        longitude += 0.9
      } else if (what < 0.008) {
        // A receiver jumps, once or three times in a row.
        for (let n = random() < 0.5 ? 1 : 3; n > 0; n--)
          yield {
            timestamp: (time += 10),
            latitude: latitude + random() * 4 - 2,
            longitude: longitude + random() * 4,
          }
      } else if (what < 0.012 && time - restartedAt > 20 * MINUTE) {
        // A restart: a cold start in the middle of the day.
        time += 3 * MINUTE
        restartedAt = time
        yield { timestamp: time, ...SHENZHEN }
      }
      time += 10 + Math.floor(random() * 50)
      latitude += north((random() - 0.5) * 1500)
      longitude += (random() - 0.5) * 0.02
      const place = { timestamp: time, latitude, longitude }
      // Without a network for a while: it is sent late, after newer ones, some of it twice.
      if (random() < 0.05) kept.push(place)
      else yield place
      if (kept.length > 20) yield* [...kept.splice(0), place]
    }
    yield* kept
    // Back at the depot; on one day in five it is carried 300 km overnight.
    if (random() < 0.2) latitude = DEPOT.latitude + 2.7
    else ({ latitude, longitude } = DEPOT)
  }
}

/** Who sends over a month: each connection from the network that the carrier gives it; a SIM card is swapped on day 10. */
function* sendersOf(seed: number, transport: 'tcp' | 'udp'): Generator<readonly [Sender, number]> {
  const random = seeded(seed)
  let network = ''
  for (let time = START; time < START + 30 * DAY; ) {
    const carrier = time < START + 10 * DAY ? '10.1' : '10.2'
    // Carriers hand out few networks, so that one comes back; a datagram's changes with the context, some times a day.
    if (transport === 'tcp' || random() < 0.3) network = `${carrier}.${Math.floor(random() * 3)}.0/24`
    const connectedAt = transport === 'tcp' ? time * 1000 : 0
    const end = time + 10 * MINUTE + random() * 6 * HOUR
    for (; time < end; time += 30 + Math.floor(random() * 30))
      yield [{ protocol: 'teltonika', network, connectedAt }, time]
    time += Math.floor(random() * 20 * MINUTE)
  }
}

it('a device that changes its company begins a new trail without places of the other company', () => {
  const trails = new Trails()
  const trailFor = (company: string, known?: DeviceTrail) => trails.of('1', company, known)
  const first = trailFor('8')
  expect(trailFor('8')).toBe(first)
  const second = trailFor('7', first)
  expect(second).not.toBe(first)
  expect([trailFor('7'), trailFor('7', second)]).toEqual([second, second])
})

it.for(Array.from({ length: 40 }, (_, seed) => seed))('a month of a normal van raises no suspicion: van %i', (seed) => {
  const trail = new DeviceTrail()
  const found = Array.from(month(seed), (place) => (trail.isOff(place, place.timestamp), trail.suspicion)).filter(
    Boolean,
  )
  expect(found).toEqual([])
})

it.for(Array.from({ length: 20 }, (_, seed) => seed))(
  'the senders of a normal van over a month raise no suspicion: van %i',
  (seed) => {
    for (const transport of ['tcp', 'udp'] as const) {
      const trail = new DeviceTrail()
      const found = Array.from(sendersOf(seed, transport), ([sender, time]) => trail.heard(sender, time)).filter(
        Boolean,
      )
      expect(found).toEqual([])
    }
  },
)
