import { expect, it } from 'vitest'
import { chainOf, chainWithoutRedis } from '../../src/diagnose/chain.ts'
import { LINKS } from '../../src/diagnose/codes.ts'
import type { ChainFacts, ExplainedDevice } from '../../src/diagnose/detail.ts'
import { findingOf } from '../../src/diagnose/diagnose.ts'
import type { DeviceFacts } from '../../src/diagnose/device-facts.ts'
import type { Found } from '../../src/diagnose/facts.ts'
import { joined, say } from '../../src/texts/text.ts'
import { inEnglish } from '../support/texts.ts'

const NOW = Date.UTC(2026, 10, 20, 8, 20)
const S = 1000
const MIN = 60 * S
const at = (ms: number) => new Date(ms).toISOString()
const show = (text: string) => text.slice(11, 19)

const FACTS: DeviceFacts = {
  id: '1',
  name: 'Van 12',
  company: '7',
  route: { courier: '42', route: '1007' },
  heardAt: NOW - 12 * S,
  connectedAt: NOW - 60 * MIN,
  usualMs: 10 * S,
  fix: { newAt: NOW - 12 * S, time: NOW - 12 * S, speed: 12 },
}
const LANE = {
  courier_id: '42',
  route_id: '1007',
  source: 'routes.csv:17',
  waiting: 0,
  last_push: { at: at(NOW - 11 * S), status: 200 as number | string },
}
const DETAIL: ExplainedDevice['device'] = {
  id: '1',
  configured: true,
  company_id: '7',
  source: 'devices.yaml:3',
  state: 'online',
  condition: 'moving',
  held: [],
  lane: LANE,
  last_heard: { at: at(NOW - 12 * S), protocol: 'teltonika', transport: 'tcp', remote: '10.1.2.3:40001' },
  last_fix: { time_at: at(NOW - 12 * S), received_at: at(NOW - 12 * S) },
  events: [{ at: at(NOW - 60 * MIN), event: 'routed' }],
}
const SAID = { at: NOW - 12 * S, sinceAt: NOW - 60 * MIN, otherAt: NOW - 70 * MIN }
const NEVER = { heardAt: undefined, connectedAt: undefined, fix: undefined }
const NOT_HEARD = {
  state: 'never',
  condition: 'never',
  last_heard: undefined,
  last_fix: undefined,
  events: [],
} as const
const UNPUSHED = { ...LANE, last_push: undefined }

interface Case {
  readonly device?: Partial<DeviceFacts>
  readonly detail?: Partial<ExplainedDevice['device']>
  readonly explained?: Partial<ExplainedDevice>
  readonly found?: readonly Found[]
  readonly place?: string
}

function chain({ device, detail, explained, found = [], place }: Case = {}) {
  const facts: ChainFacts = {
    device: { ...FACTS, ...device },
    position:
      device && 'fix' in device && !device.fix
        ? undefined
        : { at: NOW - 12 * S, latitude: 54.687214, longitude: 25.27968, place },
    explained: {
      device: { ...DETAIL, ...detail },
      parked: [],
      upstream: { state: 'up', since_at: at(NOW - 600 * MIN) },
      now: NOW,
      ...explained,
    },
    findings: found.map((each) => findingOf(each, NOW)),
  }
  return inEnglish(chainOf(facts, show))
}

/** Returns a line of a file that is left out. */
const leftOut = (line: number, device: string) => joined([`routes.csv:${line}`, device, 'route_id', say('empty')], ': ')

const airTexts = (bytes_per_month: number, connects_anew = false) =>
  chain({ detail: { air: { bytes_per_month, connects_anew } } }).links[0].evidence.slice(2)
const placedOf = (some: Case) => chain(some).links[3]
const headOf = (some: Case) => chain(some).sentence.split('; ')[0]
const states = (some: Case) => chain(some).links.map(({ state }) => state)
const refusedAs = (reason: string) => [{ at: at(NOW - 3 * S), event: 'refused', reason }]
const waiting = { ...LANE, waiting: 5, oldest_at: at(NOW - 10 * S) }

it('the chain of a device is whole if its positions are accepted', () => {
  const { broken, links, sentence } = chain()
  expect([broken, links.map(({ link }) => link), links.map(({ state }) => state)]).toEqual([
    null,
    [...LINKS],
    LINKS.map(() => 'ok'),
  ])
  expect(sentence).toBe(
    'Van 12 is moving at 54.68721, 25.27968, 12 s ago, 43 km/h, on route 1007 (courier 42); last fix 08:19:48, route 1007 by routes.csv:17, all delivered, last push 08:19:49',
  )
  const placed = chain({ place: '2 km NE of Vilnius' })
  expect(placed.sentence).toMatch(/^Van 12 is moving 2 km NE of Vilnius \(54.68721, 25.27968\), 12 s ago, 43 km/)
  expect(links[0]).toMatchObject({
    sinceAt: NOW - 60 * MIN,
    lastGoodAt: NOW - 12 * S,
    evidence: ['heard 12 s ago: teltonika over tcp from 10.1.2.3:40001', 'connected since 07:20:00'],
  })
})

it('the chain of a device says since when its positions go nowhere, not when the last one or an earlier one came', () => {
  const unplaced = { reason: 'no_route', at: NOW - 12 * S, isHeld: true }
  const held = { at: at(NOW - 30 * MIN), event: 'held', reason: 'no_route' }
  const detail = { lane: undefined, events: [held, ...DETAIL.events] }
  expect(placedOf({ device: { route: undefined, isUnplaced: true, unplaced }, detail })).toMatchObject({
    state: 'broken',
    sinceAt: NOW - 30 * MIN,
  })
  const fix = { newAt: NOW - 20 * MIN, time: NOW - 20 * MIN }
  expect(placedOf({ device: { fix, unplaced: { ...unplaced, at: NOW - 24 * 60 * MIN } } })).toMatchObject({
    state: 'broken',
    sinceAt: NOW - 20 * MIN,
  })
})

it('the chain of a device says its data volume, and that it connects anew for each position', () => {
  expect(airTexts(4_110_000)).toEqual(['about 4.1 MB a month on the air'])
  expect(airTexts(412_345, true)).toEqual(['about 410 kB a month on the air', 'it connects anew for each position'])
})

it('the chain of a parked van says since when it is parked, and when it counts as silent', () => {
  const off = { ignition: { ...SAID, value: false } }
  const [time, heardAt] = [NOW - 60 * MIN, NOW - 30 * MIN]
  const device = { said: off, heardAt, sleepMs: 60 * MIN, fix: { newAt: time, time, speed: 0 } }
  const parked = chain({ device, place: 'in Moabit' })
  expect(parked.sentence).toMatch(
    /^Van 12 is parked in Moabit \(54.68721, 25.27968\), ignition off since 07:20:00, last position 12 s ago, on route/,
  )
  expect(parked.links[0]).toMatchObject({
    state: 'ok',
    evidence: [
      'heard 30 min ago: teltonika over tcp from 10.1.2.3:40001',
      'connected since 07:20:00',
      'parked, and counts as silent once it was not heard for 2 h',
    ],
  })
  const silent = chain({ device: { ...device, heardAt: NOW - 121 * MIN } })
  expect([silent.broken, silent.sentence]).toEqual([
    'connected',
    expect.stringMatching(/^Van 12 is silent, last at [\d., ]+, 12 s ago, ignition off since 07:20:00, on route/),
  ])
  const idling = { ignition: { ...SAID, value: true } }
  const standing = chain({ device: { said: idling, fix: { ...FACTS.fix!, speed: 0 } } })
  expect(standing.sentence).toMatch(/^Van 12 is standing at [\d., ]+, 12 s ago, ignition on since 07:20:00, on route/)
})

it('the chain of a van with an alarm says so and what to do, but is not broken', () => {
  const said = {
    alarms: [{ alarm: 'power_cut', at: NOW - 20 * MIN, sinceAt: NOW - 20 * MIN, cameAt: NOW - 20 * MIN }],
  }
  const { broken, links, findings, sentence } = chain({ device: { said } })
  expect([broken, links[0].state, links[0].finding?.code]).toEqual([null, 'ok', 'power_cut'])
  expect(findings.map(({ code }) => code)).toEqual(['power_cut'])
  expect(sentence).toMatch(/power cut, said at 2026-11-20T08:00:00.000Z: ask the driver, and look after it/)
  const silent = chain({ device: { said, heardAt: NOW - 6 * MIN } })
  expect([silent.broken, silent.links[0].finding?.code]).toEqual(['connected', 'silent'])
})

it('the chain of a parked van without satellites is not broken', () => {
  const unplaced = { reason: 'invalid', at: NOW, isHeld: false }
  const off = { ignition: { ...SAID, value: false } }
  const device = { fix: { ...FACTS.fix!, speed: 0 }, isUnplaced: true, unplaced }
  expect(chain({ device }).broken).toBe('placed')
  expect(chain({ device: { ...device, said: off } }).broken).toBeNull()
  const late = { ...device, said: off, unplaced: { ...unplaced, reason: 'past' } }
  expect(chain({ device: late }).broken).toBe('placed')
})

it('the chain of a device writes the time when its route was put as its sentence does', () => {
  const lane = { ...LANE, source: `admin ${at(NOW - 60 * MIN)}` }
  const [on] = inEnglish(chain({ detail: { lane } }).links[3].evidence)
  expect(on).toBe('route 1007 by the admin port, put 07:20:00')
})

it('the chain of a device says that a link worked until the first held fix', () => {
  const device = { isUnplaced: true, unplaced: { reason: 'no_route', at: NOW, isHeld: true } }
  const held = { at: at(NOW - 5 * MIN), event: 'held', reason: 'no_route' }
  const routed = { at: at(NOW - 60 * MIN), event: 'routed', lane: '7/42/1007' }
  const placed = (events: object[]) => chain({ device, detail: { events } as Case['detail'] }).links[3]
  expect(placed([held, routed])).toMatchObject({ link: 'placed', state: 'broken', lastGoodAt: NOW - 5 * MIN })
  expect(placed([held]).lastGoodAt).toBeUndefined()
})

it.each<[string, string | null, RegExp, Case]>([
  [
    'is silent on its route',
    'connected',
    /^Van 12 is silent, last at 54.68721.*check its power and its SIM card/,
    { device: { heardAt: NOW - 6 * MIN }, detail: { condition: 'silent', state: 'offline' } },
  ],
  [
    'was never heard',
    'connected',
    /was never heard, on route 1007.*nothing has come from it yet: point it to this server/,
    { device: NEVER, detail: { ...NOT_HEARD, lane: UNPUSHED } },
  ],
  [
    'was configured a moment ago',
    null,
    /nothing has come from it yet/,
    { device: NEVER, detail: { ...NOT_HEARD, lane: UNPUSHED, source: `admin ${at(NOW - MIN)}` } },
  ],
  [
    'sends to a port that does not understand it',
    'understood',
    /its id came from 10\.9\.9\.9:1 at port 5027.*set the port/,
    {
      device: { ...NEVER, sender: { at: NOW, sinceAt: NOW, address: '10.9.9.9:1', port: 5027 } },
      detail: { ...NOT_HEARD, lane: UNPUSHED },
    },
  ],
  [
    'sends frames that are not understood',
    'understood',
    /2 frames of gt06 are not understood/,
    {
      explained: { misunderstood: { frames: 2, sinceAt: at(NOW - 9 * S), protocol: 'gt06' } },
      found: [{ code: 'not_understood', subject: { device: '1' } }],
    },
  ],
  [
    'sends damaged frames',
    'understood',
    /update the firmware/,
    { found: [{ code: 'checksum_errors', subject: { device: '1' }, evidence: ['5 frames of gt06'] }] },
  ],
  [
    'presents a wrong secret',
    'identified',
    /wrong secret, or none: set the same secret/,
    { device: NEVER, detail: { ...NOT_HEARD, lane: UNPUSHED, events: refusedAs('wrong_secret') } },
  ],
  [
    'is not configured',
    'identified',
    /^1 is not configured.*add it to devices\.yaml/,
    {
      device: { company: undefined, name: undefined, route: undefined },
      detail: { configured: false, source: undefined, lane: undefined },
    },
  ],
  [
    'has no route',
    'placed',
    /12 fixes held since .*: add a line to routes\.csv/,
    {
      device: {
        route: undefined,
        isUnplaced: true,
        unplaced: { reason: 'no_route', at: NOW - 12 * S, isHeld: true },
      },
      detail: { lane: undefined, held: [{ reason: 'no_route', fixes: 12, oldest_at: at(NOW - MIN) }] },
    },
  ],
  [
    'is ahead of the clock',
    'placed',
    /set time_zone: "\+03:00" in devices\.yaml:3/,
    {
      device: { isUnplaced: true, unplaced: { reason: 'clock', at: NOW, isHeld: true } },
      detail: { held: [{ reason: 'clock', fixes: 12, oldest_at: at(NOW - MIN), offset: '+03:00' }] },
    },
  ],
  [
    'is behind by whole quarters of an hour',
    'placed',
    /3 h behind: time_zone "-03:00" fits: if a time_zone fits, add it to its entry/,
    { device: { behind: { ms: 180 * MIN, sinceAt: NOW - MIN, zone: '-03:00' } } },
  ],
  [
    'has no new position',
    'placed',
    /is heard without a new position.*last new position 10 min ago.*check the GPS antenna/,
    { device: { fix: { newAt: NOW - 10 * MIN, time: NOW - 10 * MIN } } },
  ],
  [
    'cannot be stored',
    'stored',
    /^Van 12 is moving .*, on route 1007 \(courier 42\), but nothing can be stored; /,
    { found: [{ code: 'redis_full' }] },
  ],
  [
    'waits without a worker',
    'pushed',
    /5 waiting since/,
    { detail: { lane: waiting }, found: [{ code: 'no_worker' }] },
  ],
  [
    'waits for more than a minute though the API answers',
    'pushed',
    /900 waiting since .*: behind/,
    { detail: { lane: { ...LANE, waiting: 900, oldest_at: at(NOW - 2 * MIN) } } },
  ],
  [
    'has no gateway',
    'connected',
    /; no gateway gives a sign of life: no tracker can send anything; /,
    { found: [{ code: 'no_gateway' }] },
  ],
  [
    'has no worker',
    'pushed',
    /; no worker gives a sign of life: nothing is pushed; .*5 waiting/,
    { detail: { lane: waiting }, found: [{ code: 'no_worker' }] },
  ],
  [
    'waits while the API is down',
    'accepted',
    /5 waiting since .*: the service is down since/,
    {
      detail: { lane: waiting },
      explained: { upstream: { state: 'down', since_at: at(NOW - MIN) } },
      found: [{ code: 'upstream_down' }],
    },
  ],
  [
    'waits while the API is slow',
    'accepted',
    /; the tracking API answers slowly: positions arrive late; .*5 waiting since/,
    { detail: { lane: waiting }, found: [{ code: 'upstream_slow' }] },
  ],
  [
    'waits while the API hangs',
    'accepted',
    /; the tracking API takes requests and does not answer them; .*5 waiting since \d\d:\d\d:\d\d$/,
    { detail: { lane: waiting }, found: [{ code: 'upstream_hanging' }] },
  ],
  [
    'has no route, since its line is left out',
    'placed',
    /, no route now, 3 fixes held since .*, no route at their time: correct its line, which is left out: routes.csv:17: Van 12: route_id: empty$/,
    {
      device: { route: undefined, isUnplaced: true, unplaced: { reason: 'no_route', at: NOW, isHeld: true } },
      detail: {
        lane: undefined,
        condition: 'no_route',
        held: [{ reason: 'no_route', fixes: 3, oldest_at: at(NOW - 30 * S) }],
      },
      found: [
        {
          code: 'roster_rejected',
          evidence: [leftOut(9, 'Van 1'), leftOut(17, 'Van 12')],
        },
      ],
    },
  ],
  [
    'has an id that was mistyped',
    'connected',
    /nothing has come from it, but 21 sends, and nobody has configured that: is it the same tracker\? If so, correct the id in devices.yaml:3$/,
    { device: NEVER, detail: { ...NOT_HEARD, lane: UNPUSHED }, explained: { similar: '21' } },
  ],
  [
    'is refused by the API',
    'accepted',
    /refused 404 by the service \(no such route\), 3 parked: correct the line/,
    {
      explained: {
        parked: [
          {
            company_id: '7',
            courier_id: '42',
            route_id: '1007',
            fixes: 3,
            parked: { status: 404, message: 'no such route' },
            refused: [],
          },
        ],
      },
      detail: { lane: { ...LANE, from_at: at(NOW), last_push: { at: at(NOW - S), status: 404 } } },
    },
  ],
])('the chain of a device that %s is broken at %s', (_, link, sentence, some) => {
  const { broken, ...rest } = chain(some)
  expect(broken).toBe(link)
  expect(rest.sentence).toMatch(sentence)
})

it('the chain of a device says first what is broken, unless its state says so', () => {
  const down = { explained: { upstream: { state: 'down', since_at: at(NOW - MIN) } as const } }
  const but = 'on route 1007 (courier 42), but the tracking API does not take its positions'
  expect(headOf({ detail: { lane: waiting }, ...down })).toContain(but)
  const failed = { ...waiting, oldest_at: at(NOW - 2 * MIN), last_push: { at: at(NOW - S), status: 500 } }
  expect(headOf({ detail: { lane: failed }, found: [{ code: 'backlog' }] })).toContain(
    `${but}: the service answered 500`,
  )
  expect(headOf({ detail: { lane: waiting }, found: [{ code: 'no_worker' }] })).toMatch(
    /, but its positions are not pushed$/,
  )
  expect(headOf({ device: { heardAt: NOW - 6 * MIN } })).toMatch(/is silent.*\(courier 42\)$/)
  expect(headOf({})).not.toContain('but')
})

it('the chain never suggests power and SIM for a refused device, or one that was just configured', () => {
  const refused = { device: NEVER, detail: { ...NOT_HEARD, lane: UNPUSHED, events: refusedAs('wrong_secret') } }
  const fresh = { device: NEVER, detail: { ...NOT_HEARD, lane: UNPUSHED, source: `admin ${at(NOW - MIN)}` } }
  for (const some of [refused, fresh]) expect(chain(some).sentence).not.toMatch(/SIM|power/)
  expect(states(refused)[0]).toBe('ok')
  expect(states(fresh)).toEqual(['idle', 'idle', 'idle', 'idle', 'idle', 'idle', 'idle'])
})

it('the chain of a device that was never heard names no finding without evidence for it', () => {
  const detail = { ...NOT_HEARD, lane: UNPUSHED }
  for (const code of ['bridge_down', 'certificate_refused', 'restarting'] as const) {
    const { findings, links, sentence } = chain({ device: NEVER, detail, found: [{ code }] })
    expect([links[0].state, links[0].finding]).toEqual(['broken', undefined])
    expect(findings).toEqual([])
    expect(sentence).toMatch(/courier 42\)[;,] never heard/)
  }
  expect(chain({ device: NEVER, detail, found: [{ code: 'no_gateway' }] }).links[0].finding?.code).toBe('no_gateway')
})

it.each([
  ['refused', { device: NEVER, detail: { ...NOT_HEARD, events: refusedAs('wrong_secret') } }],
  [
    'not understood',
    { device: { ...NEVER, sender: { at: NOW, sinceAt: NOW, address: '10.9.9.9:1' } }, detail: NOT_HEARD },
  ],
])('the chain does not say that a device was never heard if what it sends is %s', (fate, some) => {
  const { sentence } = chain(some)
  expect(sentence).toMatch(
    new RegExp(
      `^Van 12 sends, but what it sends is ${fate}, on route 1007 .*; nothing of its tracker was accepted so far, route`,
    ),
  )
  expect(sentence).not.toMatch(/heard/)
})

it('the chain of a device with a wrong secret after a pause says what is refused, not that it is silent', () => {
  const found: Found[] = [{ code: 'wrong_secret', subject: { device: '1' }, sinceAt: NOW - MIN }]
  const some = {
    device: { heardAt: NOW - 20 * MIN, connectedAt: undefined },
    detail: { condition: 'silent' as const, events: refusedAs('wrong_secret') },
    found,
  }
  const { broken, findings, sentence } = chain(some)
  expect([broken, findings.map(({ code }) => code)]).toEqual(['identified', ['wrong_secret']])
  expect(sentence).toMatch(/^Van 12 sends, but what it sends is refused/)
  expect(sentence).not.toMatch(/silent|power/)
  expect(chain({ ...some, found: [] }).broken).toBe('connected')
})

it('the chain does not say that the API is down or all is delivered if something else answers in its place', () => {
  const { broken, links, sentence } = chain({
    detail: { lane: { ...waiting, last_push: { at: at(NOW - 11 * S), status: 'not_the_api' } } },
    explained: { upstream: { state: 'down', since_at: at(NOW - MIN) } },
    found: [{ code: 'not_the_api', evidence: ['it begins with: <html>'] }],
  })
  expect(broken).toBe('accepted')
  expect(sentence).toMatch(
    /, but the tracking API does not take its positions: something else answered in its place; something else answers in place of the tracking API; .*5 waiting since \d\d:\d\d:\d\d$/,
  )
  const { evidence } = links.at(-1)!
  expect(evidence).toEqual(['last push: not_the_api', 'it begins with: <html>'])
  expect([sentence, ...evidence].join()).not.toMatch(/down|delivered/)
})

it('the chain of a device without waiting fixes is not broken by an API that is down', () =>
  expect(chain({ found: [{ code: 'upstream_down' }] }).broken).toBeNull())

it('the chain of a device with accepted positions is not broken by refused lanes of its company', () => {
  const evidence = ['404 no such route', 'courier 9, route 3009']
  const refused: Found = { code: 'lane_refused', subject: { company_id: '7' }, evidence }
  const { broken, sentence } = chain({ detail: { lane: waiting }, found: [refused] })
  expect([broken, sentence]).toEqual([null, expect.not.stringContaining('but')])
  const parked = { status: 404, message: 'no such route' }
  const own = { company_id: '7', courier_id: '42', route_id: '1007', fixes: 3, parked, refused: [] }
  const { links } = chain({ explained: { parked: [own] }, found: [refused] })
  expect(links.at(-1)).toMatchObject({ state: 'broken', evidence: ['refused 404: no such route'] })
})

it.each<[string, Found]>([
  ['a setting of Redis', { code: 'redis_unsafe', evidence: ['appendfsync is everysec'] }],
  ['a disk that is nearly full', { code: 'disk_full', evidence: ['/data: 200 MiB are left'] }],
  ['an account that does not add up', { code: 'custody_difference' }],
  ['the account of a copy', { code: 'custody_difference', subject: { copy: 'archive' } }],
  ['frames of others that are not stored', notStored('misunderstood', 'parked', 'fault')],
  ['frames that were not stored a moment ago', notStored('redis')],
])('the chain of a device whose fixes are stored is not broken by %s', (_, found) => {
  const { broken, sentence } = chain({ found: [found] })
  expect([broken, sentence]).toEqual([null, expect.not.stringContaining('nothing can be stored')])
})

it.each<[string, Case['explained']]>([
  ['redis', {}],
  ['fault', {}],
  ['parked', { parked: [refusedSingly(NOW - 60 * MIN)] }],
  ['misunderstood', { misunderstood: { frames: 1000, sinceAt: at(NOW - 60 * MIN), protocol: 'gt06' } }],
])('the chain of a device is broken by its own frames that are not stored for the reason %s', (reason, explained) => {
  const last_fix = { received_at: at(NOW - 60 * MIN) }
  expect(chain({ detail: { last_fix }, explained, found: [notStored(reason)] }).broken).toBe('stored')
  const quiet = { heardAt: NOW - 2 * MIN }
  const broken = reason === 'redis' ? 'stored' : null
  expect(chain({ device: quiet, detail: { last_fix }, explained, found: [notStored(reason)] }).broken).toBe(broken)
})

it('the chain does not say that a device stands if it has no position yet', () => {
  const last_filtered = { reason: 'invalid', at: at(NOW - 12 * S) }
  const unplaced = { reason: 'invalid', at: NOW - 12 * S, isHeld: false }
  const device = { connectedAt: NOW - MIN, fix: undefined, isUnplaced: true, unplaced }
  expect(chain({ device, detail: { last_filtered, last_fix: undefined } }).sentence).toMatch(
    /^Van 12 is heard without a new position, on route 1007 \(courier 42\); heard 08:19:48, no fix yet/,
  )
})

it('the chain does not call positions waiting if they are parked with their lane', () => {
  const parked = [{ ...refusedSingly(NOW - S), refused: [], parked: { status: 404, message: 'no such route' } }]
  const lane = { ...waiting, last_push: { at: at(NOW - S), status: 404 } }
  const { broken, links } = chain({ detail: { lane }, explained: { parked } })
  expect([broken, links[5].evidence]).toEqual(['accepted', ['last push 08:19:59: 404']])
})

const moved = (ms: number) => {
  return chain({ device: { ...NEVER, companySince: NOW - ms }, detail: { ...NOT_HEARD, lane: UNPUSHED } })
}

it('the chain does not say that a device was never heard if it belonged to another company before', () => {
  expect([moved(MIN).broken, moved(20 * MIN).broken]).toEqual([null, 'connected'])
  for (const { links, sentence } of [moved(MIN), moved(20 * MIN)]) {
    expect(sentence).toBe(
      'Van 12 was not heard since it belongs to its company, on route 1007 (courier 42); not heard since it was configured, route 1007 by routes.csv:17, nothing to deliver',
    )
    expect(links[0].evidence[0]).not.toBe('never heard')
  }
  const device = { ...FACTS, ...NEVER, companySince: NOW - 20 * MIN }
  const away = chainWithoutRedis({ device, findings: [findingOf({ code: 'redis_down' }, NOW)], now: NOW }, show)
  expect(inEnglish(away)?.links[0].evidence).toEqual(['not heard since it was configured'])
})

it('the chain of a device shows only its own line of those that are left out', () => {
  const found: Found[] = [{ code: 'roster_rejected', evidence: [leftOut(3, 'Van 9'), leftOut(17, 'Van 12')] }]
  expect(chain({ found }).links[3].evidence).toEqual([
    'route 1007 by routes.csv:17',
    'routes.csv:17: Van 12: route_id: empty',
  ])
})

it('the chain of a device says that its positions arrive late if the API is slow, not that the API takes none', () => {
  const { broken, sentence } = chain({ detail: { lane: waiting }, found: [{ code: 'upstream_slow' }] })
  expect(broken).toBe('accepted')
  expect(sentence).toMatch(/courier 42\), but its positions arrive late; the tracking API answers slowly/)
})

it.each<[string, Case]>([
  [
    'the API limits the requests',
    {
      detail: { lane: { ...waiting, oldest_at: at(NOW - 2 * MIN) } },
      explained: { upstream: { state: 'limited', since_at: at(NOW - 5 * MIN) } },
      found: [{ code: 'upstream_limited', sinceAt: NOW - 5 * MIN }],
    },
  ],
  [
    'all requests are under way',
    { detail: { lane: { ...waiting, oldest_at: at(NOW - 2 * MIN) } }, found: [{ code: 'push_full' }] },
  ],
  ['an old backlog of its tracker is pushed', { detail: { lane: { ...waiting, oldest_at: at(NOW - 2 * MIN) } } }],
])(
  'the chain of a device with accepted pushes says that its positions arrive late, not that none is pushed: %s',
  (_, some) => {
    expect(headOf(some)).toMatch(/, but its positions arrive late$/)
    const { lane } = some.detail!
    const unpushed = { ...lane!, last_push: { at: at(NOW - 10 * MIN), status: 200 } }
    expect(headOf({ ...some, detail: { lane: unpushed } })).toMatch(
      /, but (?:its positions are not pushed|the tracking API does not take its positions)$/,
    )
  },
)

it('the chain of a van with single refused positions says too that too many positions are parked', () => {
  const found: Found[] = [{ code: 'parked_full' }]
  const { broken, links, findings, sentence } = chain({
    explained: { parked: [refusedSingly(NOW - 60 * MIN)] },
    found,
  })
  expect([broken, findings.map(({ code }) => code)]).toEqual(['accepted', ['parked_full']])
  expect(sentence).toMatch(/; too many positions are parked: devices on lanes with .* are not acknowledged; .*422/)
  expect(links.at(-1)).toMatchObject({ evidence: ['refused 422: too old'], finding: { code: 'parked_full' } })
  const others = chain({ explained: { parked: [{ ...refusedSingly(NOW), route_id: '1008' }] }, found })
  expect([others.broken, others.findings]).toEqual([null, []])
})

it('the chain of a device with earlier refused positions says why its pushes fail now', () => {
  const explained = { parked: [refusedSingly(NOW - 60 * MIN)], upstream: { state: 'down', since_at: at(NOW - MIN) } }
  const lane = { ...waiting, last_push: { at: at(NOW - S), status: 'timeout' } }
  const { sentence } = chain({
    detail: { lane },
    explained: explained as Case['explained'],
    found: [{ code: 'upstream_down' }],
  })
  expect(sentence).toMatch(/5 waiting since .*: the service is down since .*; earlier ones were refused 422/)
  const parked = { said: { ignition: { ...SAID, value: false } }, heardAt: NOW - 10 * MIN, route: undefined }
  const rest = { device: parked, detail: { lane: undefined }, explained: { parked: explained.parked } }
  expect([chain(rest).broken, chain(rest).sentence]).toEqual([null, expect.stringMatching(/earlier ones were refused/)])
  expect(chain({ explained: { parked: [refusedSingly(NOW - 9 * S)] } }).broken).toBe('accepted')
})

it('the chain of a device with positions is not broken by a last message that was not understood or was refused', () => {
  const event = (name: string, reason: string, ms: number) => [{ at: at(NOW - ms), event: name, reason }]
  const unread = (ms: number, last_fix = DETAIL.last_fix) => {
    return chain({ detail: { last_fix, events: event('misunderstood', 'unknown_type', ms) } }).broken
  }
  expect([unread(5 * S), unread(MIN)]).toEqual([null, null])
  expect(unread(5 * S, { received_at: at(NOW - 6 * MIN) })).toBe('understood')
  const refused = (ms: number) => chain({ detail: { events: event('refused', 'wrong_secret', ms) } })
  expect([refused(5 * S).broken, refused(MIN).broken]).toEqual(['identified', null])
  expect(refused(MIN).sentence).toMatch(/all delivered/)
})

it('the chain of a device whose secret was corrected, and that sends no position yet, is refused no more', () => {
  const some = {
    device: { fix: undefined },
    detail: { last_fix: undefined, events: [{ at: at(NOW - 10 * MIN), event: 'refused', reason: 'wrong_secret' }] },
  }
  const { links, sentence } = chain(some)
  expect(links[2].state).toBe('ok')
  expect(sentence).not.toMatch(/refused|secret/)
  const topic = [{ at: at(NOW - 10 * MIN), event: 'refused', reason: 'unknown_topic' }]
  expect(chain({ ...some, detail: { ...some.detail, events: topic } }).broken).toBe('identified')
})

it.each(['held_too_long', 'held_full'] as const)(
  'the chain of a device is not broken while its earlier held fixes are discarded: %s',
  (code) => {
    const { broken, findings, sentence } = chain({ found: [{ code, subject: { device: '1' } }] })
    expect([broken, findings.map((each) => each.code)]).toEqual([null, [code]])
    expect(sentence).not.toContain('do not go')
  },
)

it('the chain of a device does not ask for its clock while the clock of a gateway is in doubt', () => {
  const unplaced = { reason: 'clock', at: NOW - 12 * S, isHeld: true }
  const held = [{ reason: 'clock', fixes: 3, oldest_at: at(NOW - MIN), offset: '+01:00' }]
  const found: Found[] = [{ code: 'own_clock', evidence: ['gate-1: the clock jumped by -3600 s'] }]
  const { broken, sentence } = chain({ device: { unplaced, isUnplaced: true }, detail: { held }, found })
  expect(broken).toBe('placed')
  expect(sentence).toMatch(/the clock of a gateway is in doubt.*3 fixes held since 08:19:00$/)
})

it('the chain of a device is not broken by the apikey of another company', () =>
  expect(
    chain({ detail: { lane: waiting }, found: [{ code: 'apikey_refused', subject: { company_id: '8' } }] }).broken,
  ).toBeNull())

it('the chain of a device has the finding of its route', () => {
  expect(chain({ found: [sharedRoute('1007')] }).findings.map(({ code }) => code)).toEqual(['two_on_route'])
  expect(chain({ found: [sharedRoute('1008')] }).findings).toEqual([])
})

it('the chain of a device has a left-out line of the roster as a finding, but keeps its route', () => {
  const { broken, findings, links } = chain({
    found: [{ code: 'roster_rejected', evidence: [leftOut(17, 'Van 12')] }],
  })
  expect([broken, findings.map(({ code }) => code)]).toEqual([null, ['roster_rejected']])
  expect(links[3]).toMatchObject({
    state: 'ok',
    evidence: ['route 1007 by routes.csv:17', 'routes.csv:17: Van 12: route_id: empty'],
  })
  expect(chain({ found: [{ code: 'roster_rejected', evidence: [leftOut(9, 'Van 1')] }] }).findings).toEqual([])
})

it('the chain of a device without a route says that the roster is outdated, and what to do', () => {
  const found = [{ code: 'roster_stale', subject: { company_id: '7' } }] as const
  const unplaced = { isUnplaced: true, unplaced: { reason: 'no_route', at: NOW, isHeld: true } }
  const { findings, links } = chain({
    device: { route: undefined, ...unplaced },
    detail: { lane: undefined, condition: 'no_route' },
    found,
  })
  expect(findings.map(({ code }) => code)).toEqual(['no_route', 'roster_stale'])
  expect(links[3].finding?.action).toMatch(/^write the roster of today/)
  expect(chain({ found }).findings).toEqual([])
})

it('the chain of a device with late positions names the backlog', () => {
  const late = { ...LANE, waiting: 900, oldest_at: at(NOW - 2 * MIN) }
  const { findings } = chain({ detail: { lane: late }, found: [{ code: 'backlog' }] })
  expect(findings.map(({ code }) => code)).toEqual(['backlog'])
})

it('the chain of a device has its own findings, and those that break it', () => {
  const silent = { device: { heardAt: NOW - 6 * MIN }, found: [{ code: 'redis_full' }] as const }
  expect(chain(silent).findings.map(({ code, message }) => [code, message])).toEqual([
    ['silent', 'nothing is heard of Van 12, on a route now'],
    ['redis_full', 'the memory of Redis is used up to its stop mark: nothing is acknowledged'],
  ])
})

/** The finding began a minute ago. */
function notStored(...evidence: string[]): Found {
  return { code: 'not_stored', sinceAt: NOW - MIN, evidence }
}

/** Returns positions of the lane that the API refused at a time. */
function refusedSingly(ms: number) {
  const refused = [{ status: 422, message: 'too old', at: at(ms), count: 3 }]
  return { company_id: '7', courier_id: '42', route_id: '1007', fixes: 3, refused }
}

function sharedRoute(route_id: string) {
  return { code: 'two_on_route' as const, subject: { company_id: '7', route_id } }
}
