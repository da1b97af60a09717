import { expect, it } from 'vitest'
import type { ListedDevice, RosterAnswer } from '../../src/cli/answers.ts'
import { clockIn } from '../../src/cli/output.ts'
import { type RosterContext, rosterSentence } from '../../src/cli/routes-report.ts'

const NOW = Date.UTC(2026, 10, 20, 20)
const LINES = { added: 0, changed: 0, removed: 0, rejected: [] }

/** Forty vans of company 7, of which some are silent, and those of others, all silent. */
function vans(silent: Readonly<Record<number, string | undefined>> = {}): ListedDevice[] {
  const ours = Array.from({ length: 40 }, (_, n): ListedDevice => {
    const at = silent[n]
    const state = n in silent ? (at === undefined ? 'never' : 'offline') : 'online'
    return {
      id: String(n),
      name: `Van ${n}`,
      configured: true,
      company_id: '7',
      state,
      ...(at && { last_heard: { at } }),
    }
  })
  const never = { configured: true, state: 'never' } as const
  return [...ours, { ...never, id: 'x', company_id: '8' }, { ...never, id: 'y', configured: false, company_id: '7' }]
}

function says(
  without: string[],
  devices = vans(),
  answer: Partial<RosterAnswer> = {},
  about: Partial<RosterContext> = {},
) {
  const whole = { ...LINES, devices: 40, without_route: without, ...answer }
  const clock = clockIn('UTC', NOW, 'minutes')
  return rosterSentence(whole, {
    devices,
    company: '7',
    isDryRun: false,
    moment: 'now',
    namesSilent: true,
    clock,
    now: NOW,
    ...about,
  })
}

const ids = (count: number) => Array.from({ length: count }, (_, n) => String(n))

it.each([
  ['all have one', says([]), '40 of 40 devices have a route now'],
  [
    'one has none, one is silent, one was never heard',
    says(['12'], vans({ 31: '2026-11-20T18:42:07.000Z', 33: undefined })),
    '39 of 40 devices have a route now; Van 12 has none; Van 31 is silent since 18:42; Van 33 was never heard',
  ],
  [
    'one has hung up a moment ago',
    says([], vans({ 31: '2026-11-20T19:45:00.000Z', 33: '2026-11-20T19:44:59.999Z' })),
    '40 of 40 devices have a route now; Van 33 is silent since 19:44',
  ],
  [
    'who is silent without a route is said once',
    says(['12', '13'], vans({ 12: '2026-11-20T18:42:07.000Z', 31: '2026-11-19T18:42:07.000Z' })),
    '38 of 40 devices have a route now; Van 12 and Van 13 have none; Van 31 is silent since 2026-11-19 18:42',
  ],
  [
    'ten are named',
    says(ids(10)),
    '30 of 40 devices have a route now; Van 0, Van 1, Van 2, Van 3, Van 4, Van 5, Van 6, Van 7, Van 8 and Van 9 have none',
  ],
  [
    'of more the first ten',
    says(ids(15)),
    '25 of 40 devices have a route now; Van 0, Van 1, Van 2, Van 3, Van 4, Van 5, Van 6, Van 7, Van 8, Van 9 and 5 more have none',
  ],
  ['one alone has one', says([], [], { devices: 1 }), '1 of 1 devices has a route now'],
  ['a device without a name is its id', says(['z']), '39 of 40 devices have a route now; z has none'],
  [
    'a check says what would be',
    says(['12'], vans(), {}, { isDryRun: true }),
    '39 of 40 devices would have a route now; Van 12 has none',
  ],
  [
    'of another time than now says so',
    says(['12'], vans(), {}, { moment: 'then' }),
    '39 of 40 devices have a route then; Van 12 has none',
  ],
  [
    'who is silent may be left to another one',
    says([], vans({ 33: undefined }), {}, { namesSilent: false }),
    '40 of 40 devices have a route now',
  ],
])('%s', (_, sentence, expected) => expect(sentence).toBe(expected))

it('names ten silent devices, and counts the others', () => {
  const silent = Object.fromEntries(ids(13).map((id) => [id, '2026-11-20T18:42:07.000Z']))
  const sentence = says([], vans(silent))
  expect(sentence.split('; ').slice(-2)).toEqual(['Van 9 is silent since 18:42', 'and 3 more are silent'])
  expect(sentence.split('; ')).toHaveLength(12)
})
