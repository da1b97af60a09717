import { expect, it } from 'vitest'
import type { DeviceRowJson } from '../../src/admin/schemas/devices.ts'
import type { RosterPutJson } from '../../src/admin/schemas/roster.ts'
import { rosterSentence } from '../../src/cli/routes-report.ts'

const NOW = Date.UTC(2026, 10, 20, 20)
const LINES = { added: 0, changed: 0, removed: 0, rejected: [] }

/** Returns forty vans of company 7, some of them silent, and silent vans of others. */
function vans(silent: Readonly<Record<number, string | undefined>> = {}): DeviceRowJson[] {
  const ours = Array.from({ length: 40 }, (_, n): DeviceRowJson => {
    const at = silent[n]
    const state = n in silent ? (at === undefined ? 'never' : 'offline') : 'online'
    return {
      id: String(n),
      name: `Van ${n}`,
      configured: true,
      company_id: '7',
      mapping: 'mapped',
      condition: 'silent',
      findings: [],
      state,
      ...(at && { last_heard: { at, transport: 'tcp', remote: '10.1.2.3:40001' } }),
    }
  })
  const never = {
    configured: true,
    mapping: 'unmapped',
    condition: 'never',
    findings: [],
    state: 'never',
  } satisfies Partial<DeviceRowJson>
  return [...ours, { ...never, id: 'x', company_id: '8' }, { ...never, id: 'y', configured: false, company_id: '7' }]
}

const HOURS_AGO = { at: '2026-11-20T17:00:00.000Z', transport: 'tcp', remote: '10.1.2.3:40001' } as const
const DAY = { from: Date.UTC(2026, 10, 20) / 1000, until: Date.UTC(2026, 10, 21) / 1000 }
const TOMORROW = { from: DAY.until, until: DAY.until + 86_400 }

/** Returns the sentence about a put of the first of these intervals. */
function says(
  without: string[],
  devices = vans(),
  answer: Partial<RosterPutJson> = {},
  { intervals = [DAY], isPut = true } = {},
) {
  const roster = { ...LINES, devices: 40, without_route: without, ...answer }
  const context = { devices, company: '7', intervals, zone: 'UTC' }
  return rosterSentence({ interval: intervals[0], isPut, roster }, context, NOW)
}

const ids = (count: number) => Array.from({ length: count }, (_, n) => String(n))

it.each([
  ['says that all devices have a route', says([]), '40 of 40 devices have a route now'],
  [
    'names a device without a route, a silent one, and one that was never heard',
    says(['12'], vans({ 31: '2026-11-20T18:42:07.000Z', 33: undefined })),
    '39 of 40 devices have a route now; Van 12 has none; Van 31 is silent since 18:42; Van 33 was never heard',
  ],
  [
    'does not call a device silent that disconnected a moment ago',
    says([], vans({ 31: '2026-11-20T19:45:00.000Z', 33: '2026-11-20T19:44:59.999Z' })),
    '40 of 40 devices have a route now; Van 33 is silent since 19:44',
  ],
  [
    'does not call a device silent that is parked, or that sends seldom',
    says(
      [],
      [
        { ...vans()[0], state: 'offline', condition: 'parked', last_heard: HOURS_AGO },
        { ...vans()[1], state: 'offline', condition: 'standing', last_heard: HOURS_AGO },
      ],
    ),
    '40 of 40 devices have a route now',
  ],
  [
    'names a silent device without a route only once',
    says(['12', '13'], vans({ 12: '2026-11-20T18:42:07.000Z', 31: '2026-11-19T18:42:07.000Z' })),
    '38 of 40 devices have a route now; Van 12 and Van 13 have none; Van 31 is silent since 2026-11-19 18:42',
  ],
  [
    'names ten devices',
    says(ids(10)),
    '30 of 40 devices have a route now; Van 0, Van 1, Van 2, Van 3, Van 4, Van 5, Van 6, Van 7, Van 8 and Van 9 have none',
  ],
  [
    'names the first ten of more devices',
    says(ids(15)),
    '25 of 40 devices have a route now; Van 0, Van 1, Van 2, Van 3, Van 4, Van 5, Van 6, Van 7, Van 8, Van 9 and 5 more have none',
  ],
  ['says that the only device has a route', says([], [], { devices: 1 }), '1 of 1 devices has a route now'],
  ['names a device without a name by its id', says(['z']), '39 of 40 devices have a route now; z has none'],
  [
    'says of a check what would be',
    says(['12'], vans(), {}, { isPut: false }),
    '39 of 40 devices would have a route now; Van 12 has none',
  ],
  [
    'says that it is about another time',
    says(['12'], vans(), {}, { intervals: [TOMORROW] }),
    '39 of 40 devices have a route then; Van 12 has none',
  ],
  [
    'leaves silent devices to the last report',
    says([], vans({ 33: undefined }), {}, { intervals: [DAY, TOMORROW] }),
    '40 of 40 devices have a route now',
  ],
])('the roster sentence %s', (_, sentence, expected) => expect(sentence).toBe(expected))

it('roster names ten silent devices, and counts the others', () => {
  const silent = Object.fromEntries(ids(13).map((id) => [id, '2026-11-20T18:42:07.000Z']))
  const sentence = says([], vans(silent))
  expect(sentence.split('; ').slice(-2)).toEqual(['Van 9 is silent since 18:42', 'and 3 more'])
  expect(sentence.split('; ')).toHaveLength(12)
})
