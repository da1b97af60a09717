import { expect, it } from 'vitest'
import { forgettableDeletions } from '../../src/roster/deletions.ts'
import { type DeviceEdit, NO_EDITS } from '../../src/roster/edits.ts'
import { filesOf } from '../../src/roster/files.ts'

const NOW = Date.now()
const WEEK = 7 * 86_400_000
const MOST = 10_000

/** Of deletions at these times, by the ids of their devices, those that may be forgotten; `007` stands in a file. */
async function forgettable(
  deletions: Readonly<Record<string, number>>,
  { more = {}, at = NOW }: { more?: Readonly<Record<string, DeviceEdit>>; at?: number } = {},
) {
  const files = await filesOf('', new Map([['devices.yaml', '"007": { company_id: 7 }']]), { protocols: [] })
  const all = Object.entries(deletions).map(([id, time]) => [id, { at: time, device: null }] as const)
  const devices = new Map([...all, ...Object.entries(more)])
  return forgettableDeletions({ edits: { ...NO_EDITS, at, devices }, files })
}

/** So many deletions, of ids from 1000 on. */
function many(count: number, at: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [String(1000 + n), at]))
}

it.each([
  ['of 10,000, none', { ...many(MOST - 1, NOW), 1: 1 }, []],
  [
    'of more, those of over a week ago that are not among the last 10,000',
    { ...many(MOST, NOW), 1: 1, 2: 2 },
    ['2', '1'],
  ],
  ['none of the last week', { ...many(MOST, NOW), 1: NOW - WEEK, 2: NOW - WEEK - 1 }, ['2']],
  ['none of a device that a file has', { ...many(MOST, NOW), 7: 1, 1: 2 }, ['1']],
])('%s', async (_, deletions, ids) => {
  expect(await forgettable(deletions)).toEqual(ids)
})

it('a device that was put is no deletion, however old', async () => {
  const device = { id: '1', company_id: '7', source: '' }
  expect(await forgettable(many(MOST, NOW), { more: { 1: { at: 1, device } } })).toEqual([])
})

it('a week is not over because the clock of Redis was ahead once', async () => {
  const deletions = { ...many(MOST, NOW), 1: NOW - WEEK / 2 }
  expect(await forgettable(deletions, { at: NOW + 60 * 86_400_000 })).toEqual([])
})
