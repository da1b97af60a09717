import { describe, expect, it } from 'vitest'
import { CODES } from '../../src/diagnose/codes.ts'
import type { ExplainedDevice } from '../../src/diagnose/detail.ts'
import { explain, SAID_BY_FINDING } from '../../src/diagnose/explain.ts'
import { clockIn } from '../../src/domain/times.ts'
import { english, say } from '../../src/texts/text.ts'

const NOW = Date.UTC(2026, 10, 20, 8, 20)
const at = (time: string, day = '2026-11-20') => `${day}T${time}.000Z`
const HEARD = { last_heard: { at: at('08:14:03') }, last_fix: { time_at: at('08:14:02'), received_at: at('08:14:03') } }

const LANE = { courier_id: '42', route_id: '1007', source: 'routes.csv:17', from_at: at('06:00:00'), waiting: 0 }
const DEVICE = {
  id: '356307042441013',
  configured: true,
  company_id: '7',
  source: 'devices.yaml:3',
  held: [],
  events: [],
  lane: LANE,
  state: 'online',
  ...HEARD,
}
const IDS = { company_id: '7', courier_id: '42', route_id: '1007' }
const NOT_FOUND = { ...IDS, fixes: 214, parked: { status: 404, message: 'no such route' }, refused: [] }

/** Returns the sentence about a device with these facts. */
function says(device: object, facts: object = {}): string {
  const upstream = { state: 'up', since_at: at('06:00:00') }
  const all = { device: { ...DEVICE, ...device }, parked: [], upstream, now: NOW, ...facts }
  // The expected sentences leave out the time zone.
  return english(explain(all as unknown as ExplainedDevice, (instant) => clockIn('UTC', NOW)(instant).slice(0, -1)))
}

function waiting(count: number, lane: object = {}) {
  return { lane: { ...LANE, waiting: count, oldest_at: at('08:19:58'), ...lane } }
}

function held(why: 'unknown' | 'no_route' | 'clock' | 'suspicious', offset?: string) {
  return { held: [{ reason: why, fixes: 12, oldest_at: at('08:01:00'), offset }] }
}

describe('frames that are not understood', () => {
  const misunderstood = { frames: 40, sinceAt: at('07:41:00'), protocol: 'gt06' }
  const kept = 'kept, and decoded again after an upgrade or a change of its entry'

  it('frames of a device that are not understood are explained with their number and since when they come', () => {
    const line = 'last fix 08:14:02, route 1007 by routes.csv:17'
    expect(says({}, { misunderstood })).toBe(`${line}, 40 frames of gt06 are not understood since 07:41:00: ${kept}`)
    expect(says({}, { misunderstood: { ...misunderstood, frames: 1 } })).toContain('1 frame of gt06 is not understood')
    const why = { ...misunderstood, error: 'the frame is malformed: no date' }
    expect(says({}, { misunderstood: why })).toContain(
      'since 07:41:00, the decoder says "the frame is malformed: no date": kept',
    )
  })

  it('frames that are not understood are explained with protocol and number for an unconfigured device too', () => {
    const unknown = { configured: false, source: undefined, lane: undefined }
    expect(says(unknown, { misunderstood })).toContain(`add it to devices.yaml; 40 frames of gt06 are not understood`)
  })
})

describe('an unconfigured device', () => {
  const unknown = { configured: false, source: undefined, lane: undefined, state: 'online' } as const

  it.each([
    [
      'with what is held',
      held('unknown'),
      'not configured, last fix 08:14:02, 12 fixes held since 08:01:00: add it to devices.yaml',
    ],
    [
      'also if its clock is ahead',
      held('clock', '+01:00'),
      'not configured, last fix 08:14:02, 12 fixes held since 08:01:00, ahead of the clock: set time_zone: "+01:00" in devices.yaml',
    ],
    [
      'and of which nothing is held any more',
      {},
      'not configured, last fix 08:14:02, nothing is held: add it to devices.yaml',
    ],
    [
      'as it was deleted',
      { ...held('unknown'), file_entry: 'devices.yaml:6' },
      'not configured, last fix 08:14:02, 12 fixes held since 08:01:00: it was deleted through the admin port: put it there again, or edit its entry, devices.yaml:6',
    ],
    [
      'as it was deleted, and of which nothing is held',
      { last_heard: undefined, file_entry: 'devices.yaml:6' },
      'not configured, nothing is held: it was deleted through the admin port: put it there again, or edit its entry, devices.yaml:6',
    ],
    ['and was not heard', { last_heard: undefined }, 'not configured, nothing is held: add it to devices.yaml'],
  ])('an unconfigured device is explained %s', (_, device, sentence) =>
    expect(says({ ...unknown, ...device })).toBe(sentence),
  )
})

it.each([
  [
    'never',
    { state: 'never', last_heard: undefined, last_fix: undefined },
    'never heard, route 1007 by routes.csv:17, nothing has come from it yet: point it to this server (waybridge setup), and look for its id among the arrivals',
  ],
  [
    'not since what was held of it has gone',
    {
      state: 'never',
      last_heard: undefined,
      last_fix: undefined,
      lane: { ...LANE, last_push: { at: at('08:14:05'), status: 200 } },
    },
    'not heard since it was configured, route 1007 by routes.csv:17, last push 08:14:05: nothing has come from it yet: point it to this server (waybridge setup), and look for its id among the arrivals',
  ],
  [
    'not lately',
    { state: 'offline', condition: 'silent', last_heard: { at: at('18:42:10', '2026-11-19') } },
    'silent since 2026-11-19 18:42:10, last fix 08:14:02, route 1007 by routes.csv:17, all delivered: check its power and its SIM card',
  ],
  [
    'a moment ago, before it hung up',
    { state: 'offline' },
    'last fix 08:14:02, route 1007 by routes.csv:17, all delivered',
  ],
  [
    'without a fix so far',
    { last_fix: undefined },
    'heard 08:14:03, no fix yet, route 1007 by routes.csv:17, nothing to deliver',
  ],
  [
    'with a fix whose time is none',
    { last_fix: { received_at: at('08:14:03') } },
    'last fix 08:14:03, route 1007 by routes.csv:17, all delivered',
  ],
] as const)('the last contact of a device is explained: %s', (_, device, sentence) =>
  expect(says(device)).toBe(sentence),
)

describe('held fixes', () => {
  it.each([
    ['unknown', undefined, '12 fixes held since 08:01:00, being released now'],
    ['no_route', undefined, '12 fixes held since 08:01:00, no route at their time: add a line to routes.csv'],
    ['clock', '+03:00', '12 fixes held since 08:01:00, ahead of the clock: set time_zone: "+03:00" in devices.yaml:3'],
    [
      'clock',
      undefined,
      '12 fixes held since 08:01:00, ahead of the clock, by no time zone: correct the clock of the device',
    ],
    [
      'suspicious',
      undefined,
      '12 fixes held since 08:01:00, off the track of the device: compare the findings of `status`; `waybridge release` delivers them',
    ],
    [
      'clock',
      '+00:00',
      '12 fixes held since 08:01:00, ahead of the clock, by no time zone: correct the clock of the device',
    ],
  ] as const)('held fixes are explained for the reason %s and the offset %s', (why, offset, sentence) =>
    expect(says(held(why, offset))).toBe(`last fix 08:14:02, route 1007 by routes.csv:17, ${sentence}`),
  )

  it('held fixes without a route are explained before held fixes without a proof', () => {
    const both = [...held('unknown').held, ...held('no_route').held]
    expect(says({ held: both, secret: true })).toMatch(
      /12 fixes held since 08:01:00, no route at their time: add a line/,
    )
  })

  it.for([{ secret: true }, { networks: ['10.0.0.0/8'] }, { protocol: 'h02' }])(
    'held fixes are explained by the entry of the device: %o',
    (entry) =>
      expect(says({ ...held('unknown'), ...entry })).toBe(
        'last fix 08:14:02, route 1007 by routes.csv:17, 12 fixes held since 08:01:00, without what its entry asks for (secret, protocol, transports, networks or client_certificate)',
      ),
  )

  it('held fixes are explained by the put that replaced their line', () => {
    const replaced_line = { source: 'routes.csv:2' }
    const one = { reason: 'no_route', fixes: 1, oldest_at: at('08:01:00'), replaced_line } as const
    expect(says({ held: [one] })).toBe(
      'last fix 08:14:02, route 1007 by routes.csv:17, 1 fix held since 08:01:00, no route at its time: a put replaced routes.csv:2: put a line, or edit that one',
    )
  })

  it('the explanation of held fixes names an entry that was put through the admin port', () =>
    expect(says({ ...held('clock', '+03:00'), source: 'admin 2026-11-20T06:00:00Z' })).toMatch(
      /set time_zone: "\+03:00" in its entry$/,
    ))

  it('held fixes are explained before waiting fixes, and beside parked ones', () =>
    expect(says({ ...waiting(3), ...held('no_route') }, { parked: [NOT_FOUND] })).toMatch(
      /, 12 fixes held since .*routes\.csv; refused 404 .*, 214 parked: correct the line$/,
    ))

  it('a single held fix is explained in the singular', () => {
    const one = { reason: 'no_route', fixes: 1, oldest_at: at('08:01:00') } as const
    expect(says({ held: [one], lane: undefined })).toMatch(
      /^last fix 08:14:02, no route now, 1 fix held since 08:01:00, no route/,
    )
  })
})

const filtered = (why: string, time = '08:15:00') => ({ last_filtered: { reason: why, at: at(time) } })
const wasHeld = (why: string) => ({ last_filtered: { reason: why, at: at('08:15:00'), held: true } })

describe('a filtered fix', () => {
  it.each([
    ['invalid', 'filtered as invalid at 08:15:00: the device has no satellite fix, check its antenna and where it is'],
    ['zero', 'filtered as zero at 08:15:00: the device sent 0/0, it has no satellite fix'],
    ['out_of_range', 'filtered as out_of_range at 08:15:00: its latitude or longitude does not exist'],
    ['past', 'filtered as past at 08:15:00: the fix is older than filter.max_age'],
    ['clock', 'filtered as clock at 08:15:00: the fix is ahead of the clock by more than filter.max_future'],
    ['no_route', 'filtered as no_route at 08:15:00: it had no route then, and hold.no_route is false'],
    ['a new reason', 'filtered as a new reason at 08:15:00'],
  ])('a filtered fix is explained for the reason %s', (why, sentence) =>
    expect(says(filtered(why))).toBe(`last fix 08:14:02, route 1007 by routes.csv:17, ${sentence}`),
  )

  it('the last contact of a device is explained if there was no good fix', () =>
    expect(says({ ...filtered('zero'), last_fix: undefined })).toBe(
      'heard 08:14:03, no fix yet, route 1007 by routes.csv:17, filtered as zero at 08:15:00: the device sent 0/0, it has no satellite fix',
    ))

  it.each([
    ['before the last good one', filtered('zero', '08:14:03')],
    ['held for a route that the device has now', wasHeld('no_route')],
    ['held for a clock that is correct now', wasHeld('clock')],
  ])('a filtered fix is not explained if it was %s', (_, device) =>
    expect(says(device)).toBe('last fix 08:14:02, route 1007 by routes.csv:17, all delivered'),
  )
})

const parked = (...lanes: object[]) => says({}, { parked: lanes })

describe('parked positions', () => {
  const HEAD = 'last fix 08:14:02, route 1007 by routes.csv:17,'

  it('the explanation of parked positions with 404 says to correct the line', () =>
    expect(parked(NOT_FOUND)).toBe(`${HEAD} refused 404 by the service (no such route), 214 parked: correct the line`))

  it('the explanation of parked positions with 404 says to correct the entry if it assigns the route', () =>
    expect(says({ lane: { ...LANE, source: 'devices.yaml:3', from_at: undefined } }, { parked: [NOT_FOUND] })).toBe(
      'last fix 08:14:02, route 1007 by devices.yaml:3, refused 404 by the service (no such route), 214 parked: correct the entry',
    ))

  it('the explanation of parked positions with 403 says to check apikey and courier', () =>
    expect(parked({ ...NOT_FOUND, parked: { status: 403, message: '' } })).toBe(
      `${HEAD} refused 403 by the service, 214 parked: check the apikey of company 7, and that the courier belongs to it`,
    ))

  it('the explanation of parked positions shows the most frequent answer, cut to one line', () => {
    const refused = [
      { status: 413, message: 'too large', at: at('08:19:30'), count: 2 },
      { status: 422, at: at('08:19:30'), message: `accuracy:\n  ${'no '.repeat(100)}`, count: 5 },
    ]
    expect(parked({ ...IDS, fixes: 7, refused })).toBe(
      `${HEAD} refused 422 by the service (accuracy: ${'no '.repeat(36)}n…), 7 parked: correct the cause and retry them, or delete them`,
    )
  })

  it('the explanation of parked positions names another route, and counts those on more routes', () =>
    expect(parked({ ...NOT_FOUND, route_id: '9', fixes: 3 }, { ...NOT_FOUND, route_id: '1006', fixes: 20 })).toBe(
      `${HEAD} all delivered; earlier ones were refused 404 by the service (no such route), 20 parked on route 1006 and 3 on other routes: correct the line`,
    ))

  it('the explanation of parked positions shows the present route first, however few they are', () =>
    expect(parked({ ...NOT_FOUND, route_id: '9', fixes: 900 }, NOT_FOUND)).toBe(
      `${HEAD} refused 404 by the service (no such route), 214 parked and 900 on other routes: correct the line`,
    ))

  it('parked positions of a silent device are explained too', () =>
    expect(says({ state: 'offline', condition: 'silent' }, { parked: [NOT_FOUND] })).toBe(
      'silent since 08:14:03, last fix 08:14:02, route 1007 by routes.csv:17, refused 404 by the service (no such route), 214 parked: correct the line',
    ))
})

describe('a device without a route', () => {
  it('the explanation of a device without a route says to add a line', () =>
    expect(says({ lane: undefined })).toBe('last fix 08:14:02, no route now, add a line to routes.csv'))

  it('a device without a route is explained by the put that replaced its line', () =>
    expect(says({ lane: undefined, replaced_line: { source: 'routes.csv:2' } })).toBe(
      'last fix 08:14:02, no route now, a put replaced routes.csv:2: put a line, or edit that one',
    ))

  it('a device without a route that was never heard is explained by both', () =>
    expect(says({ lane: undefined, state: 'never' })).toBe(
      'never heard, no route now, nothing has come from it yet: point it to this server (waybridge setup), and look for its id among the arrivals',
    ))
})

describe('waiting positions', () => {
  const HEAD = 'last fix 08:14:02, route 1007 by routes.csv:17,'
  const upstream = (state: 'down' | 'limited') => ({ upstream: { state, since_at: at('08:10:00') } })

  it.each([
    ['is on its way', waiting(3), {}, '3 waiting since 08:19:58, will be pushed next'],
    [
      'as the service is down',
      waiting(3),
      upstream('down'),
      '3 waiting since 08:19:58: the service is down since 08:10:00',
    ],
    [
      'as the service limits requests',
      waiting(3),
      upstream('limited'),
      '3 waiting since 08:19:58: the service accepts fewer requests since 08:10:00',
    ],
    [
      'as the last push failed',
      waiting(3, { last_push: { at: at('08:19:59'), status: 503 } }),
      {},
      '3 waiting since 08:19:58: the push of 08:19:59 failed: the service answered 503, it is being retried',
    ],
    [
      'as the last push had no answer',
      waiting(3, { last_push: { at: at('08:19:59'), status: 'timeout' } }),
      {},
      '3 waiting since 08:19:58: the push of 08:19:59 failed: there was no answer in time, it is being retried',
    ],
    [
      'as nothing took the last push, which may be over',
      waiting(1, { last_push: { at: at('08:19:59'), status: 'refused' } }),
      {},
      '1 waiting since 08:19:58: the push of 08:19:59 failed: the connection was refused, it is being retried',
    ],
    [
      'as the last push failed in another way',
      waiting(3, { last_push: { at: at('08:19:59'), status: 'tls' } }),
      {},
      '3 waiting since 08:19:58: the push of 08:19:59 failed: the connection failed (tls), it is being retried',
    ],
    [
      'behind',
      waiting(900, { oldest_at: at('08:18:59'), last_push: { at: at('08:19:59'), status: 200 } }),
      {},
      '900 waiting since 08:18:59: behind, the newest position is sent first',
    ],
  ])('waiting positions are explained: %s', (_, device, findings, sentence) =>
    expect(says(device, findings)).toBe(`${HEAD} ${sentence}`),
  )
})

describe('a device without problems', () => {
  it('the explanation of a device without problems shows which put assigned its route', () =>
    expect(says({ lane: { ...LANE, source: 'admin 2026-11-20T06:00:00.000Z' } })).toBe(
      'last fix 08:14:02, route 1007 by the admin port, put 06:00:00, all delivered',
    ))

  it('the explanation of a device without problems shows the time of the last push', () =>
    expect(says(waiting(0, { last_push: { at: at('08:14:04'), status: 200 } }))).toBe(
      'last fix 08:14:02, route 1007 by routes.csv:17, all delivered, last push 08:14:04',
    ))
})

const wasRefused = (why: string, ...before: object[]) => ({
  events: [...before, { at: at('08:15:00'), event: 'refused', reason: why }, { at: at('08:14:00'), event: 'routed' }],
})

describe('the last message of a device', () => {
  it.each([
    ['wrong_secret', /refused since 08:15:00: it presents a wrong secret, or none: set the same secret/],
    ['not_permitted', /refused since 08:15:00: it came in a way that its entry does not allow/],
  ])('a last message refused as %s is explained, and not by power and SIM', (why, text) => {
    const sentence = says({ ...wasRefused(why), state: 'never', last_heard: undefined, last_fix: undefined })
    expect(sentence).toMatch(text)
    expect(sentence).not.toMatch(/SIM|power|point it/)
  })

  it('a refused message is no longer explained after a message was accepted', () =>
    expect(says(wasRefused('wrong_secret', { at: at('08:16:00'), event: 'routed' }))).toMatch(/, all delivered$/))
})

it('a device on a port that does not understand it is directed to another port', () => {
  const sender = { at: 0, sinceAt: 0, address: '203.0.113.7:40112', port: 5027, protocol: 'teltonika' }
  const sentence = says({ state: 'never', last_heard: undefined, last_fix: undefined }, { sender })
  expect(sentence).toMatch(
    /its id came from 203\.0\.113\.7:40112 at port 5027 \(teltonika\), and was not understood there: set the port/,
  )
  expect(sentence).not.toMatch(/SIM|power/)
})

describe('earlier refused positions', () => {
  const refused = [{ status: 422, message: 'accuracy', at: at('08:00:00'), count: 8 }]
  const facts = { parked: [{ ...IDS, fixes: 8, refused }] }
  const taken = { ...LANE, last_push: { at: at('08:14:04'), status: 200 } }

  it('earlier refused positions are explained last if others are accepted since', () =>
    expect(says({ lane: taken }, facts)).toBe(
      'last fix 08:14:02, route 1007 by routes.csv:17, all delivered, last push 08:14:04; earlier ones were refused 422 by the service (accuracy), 8 parked: correct the cause and retry them, or delete them',
    ))

  it('earlier refused positions do not hide a present problem', () =>
    expect(says({ lane: taken, ...held('no_route') }, facts)).toMatch(
      /^[^;]*12 fixes held since .*; earlier ones were/,
    ))

  it('earlier refused positions do not explain pushes that fail for another reason, or without a known push', () => {
    const failing = waiting(3, { last_push: { at: at('08:19:59'), status: 503 } })
    expect(says(failing, facts)).toMatch(
      /: the service answered 503, it is being retried; earlier ones were refused 422/,
    )
    expect(says({}, facts)).toMatch(/, all delivered; earlier ones were refused 422/)
  })

  it('earlier refused positions are the problem if the last of them is recent', () =>
    expect(
      says({ lane: taken }, { parked: [{ ...IDS, fixes: 8, refused: [{ ...refused[0], at: at('08:19:30') }] }] }),
    ).toMatch(/routes\.csv:17, refused 422/))
})

it.each([...SAID_BY_FINDING])(
  'a device with the finding %s is told what to do, even if its evidence is not shown',
  (code) => {
    const action = say(CODES[code].action)
    const saysOf = (evidence: readonly string[]) => says({}, { findings: [{ code, evidence, action }] })
    const line = 'last fix 08:14:02, route 1007 by routes.csv:17'
    expect(saysOf([])).toBe(`${line}, ${CODES[code].action}`)
    expect(saysOf(['seen', 'other'])).toBe(`${line}, seen: ${CODES[code].action}`)
  },
)
