import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Device } from '../../src/roster/directory.ts'
import { type Edits, lineKey, NO_EDITS, type RouteEdit } from '../../src/roster/edits.ts'
import { unplaced } from '../../src/roster/fleet.ts'
import { lastPuts, obsoletePuts } from '../../src/roster/puts.ts'
import { indexDevices, type RouteRow, type WrittenRow } from '../../src/roster/routes.ts'
import { tableOf } from '../../src/roster/table.ts'

const DAY = 86_400
/** Of the put that comes next, ms UTC; times are days, of which 31 are kept. */
const NOW = 100 * DAY * 1000

const DEVICES: Device[] = ['1', '2'].map((id) => ({ id, company_id: id, courier_id: id, source: `devices.yaml:${id}` }))
const index = indexDevices(DEVICES)

function row(device: string, route_id: string, [from, until]: readonly [from: number, until: number]): WrittenRow {
  const [when, interval] = [`${from}/${until}/`, { from: from * DAY, until: until * DAY }]
  return { at: 0, line: 1, device, courier_id: undefined, route_id, when, ...interval }
}

function put(
  at: number,
  [from, until]: readonly [number, number],
  rows: WrittenRow[] = [],
  company_id = '1',
): RouteEdit {
  return { at, company_id, from: from * DAY, until: until * DAY, rows }
}

function filesOf(rows: readonly WrittenRow[]) {
  const source = { name: 'routes.csv', file: 'routes.csv', text: '' }
  return {
    devices: [{ source, content: unplaced(DEVICES) }],
    routes: [{ source, content: { name: 'routes.csv', rows, mistakes: [] } }],
  }
}

/** The lines that are in effect, as texts. */
async function linesOf(rows: readonly WrittenRow[], edits: Partial<Edits>): Promise<Map<string, number>> {
  const { routes } = await tableOf(filesOf(rows), { ...NO_EDITS, ...edits })
  return new Map(
    routes.map((line) => [`${line.device} ${line.route_id} ${line.from} ${line.writtenAt ?? 0}`, line.until]),
  )
}

/** By the times of puts what becomes of them: the routes that are left, null where it goes. */
async function obsolete(
  routes: readonly RouteEdit[],
  { next = put(NOW, [100, 101]), rows = [] as WrittenRow[] } = {},
): Promise<Record<number, string[] | null>> {
  const { asOf, puts } = await obsoletePuts({ edits: { ...NO_EDITS, at: NOW, routes }, next, rows, index })
  expect(asOf).toBe(NOW)
  return Object.fromEntries(
    puts.map(({ before, after }) => [before.at, after?.rows.map((each) => each.route_id) ?? null]),
  )
}

describe('the put that decides on lines that begin at a time', () => {
  const last = lastPuts([put(1, [0, 10]), put(2, [5, 7]), put(3, [6, 20]), put(4, [0, 20], [], '2')])

  it.each([
    [-1, 0],
    [0, 1],
    [5, 2],
    [6, 3],
    [19, 3],
    [20, 0],
  ])('is of day %s that of time %s', (day, at) => expect(last('1', day * DAY)).toBe(at))
  it('is none of another company', () =>
    expect([last('2', 5 * DAY), last('3', 5 * DAY), last(undefined, 0)]).toEqual([4, 0, 0]))
})

describe('of a put', () => {
  const both = [put(1, [100, 103], [row('1', '10', [100, 102]), row('1', '11', [101, 102])]), put(2, [101, 102])]

  it('the lines go in whose place there are others, and it does where it decides on nothing', async () => {
    expect(await obsolete(both)).toEqual({ 1: [] })
    expect(await obsolete(both, { next: put(NOW, [99, 100]) })).toEqual({ 1: ['10'] })
    expect(await obsolete(both, { next: put(NOW, [100, 103]) })).toEqual({ 1: null, 2: null })
  })

  it('nothing is left where it has no lines and is not among the last 1,000', async () => {
    const days = Array.from({ length: 1002 }, (_, day) => put(day + 1, [200 + day, 201 + day]))
    expect(await obsolete(days)).toEqual({ 1: null, 2: null })
    const lines = [row('1', '10', [200, 201])]
    expect(await obsolete([put(1, [200, 201], lines), ...days.slice(1)])).toEqual({ 2: null })
  })

  it('nothing goes for a put of another company', async () => {
    expect(await obsolete(both, { next: put(NOW, [100, 103], [], '2') })).toEqual({})
  })

  it('all goes once all its lines have ended 31 days ago', async () => {
    expect(await obsolete([put(1, [60, 68], [row('1', '11', [60, 68])])])).toEqual({ 1: null })
    expect(await obsolete([put(1, [60, 61], [row('1', '11', [60, 69])])])).toEqual({})
  })

  it('something stays as long as a line of a file would be back without it', async () => {
    const old = [put(1, [60, 62], [row('1', '11', [60, 61]), row('1', '12', [61, 62])])]
    const next = put(NOW, [61, 62])
    for (const id of ['1', '3']) {
      expect(await obsolete(old, { rows: [row(id, '9', [60, 62])], next })).toEqual({ 1: ['11'] })
      expect(await obsolete([put(1, [60, 62])], { rows: [row(id, '9', [60, 62])], next })).toEqual({})
    }
    for (const other of [row('1', '9', [61, 62]), row('2', '9', [60, 62])])
      expect(await obsolete(old, { rows: [other], next })).toEqual({ 1: null })
  })
})

const spans = fc
  .tuple(fc.nat(110), fc.integer({ min: 1, max: 30 }))
  .map(([from, length]) => [from, from + length] as const)
const device = fc.constantFrom('1', '2')
const rows = fc
  .array(fc.tuple(device, fc.nat(9), spans), { maxLength: 6 })
  .map((all) => all.map(([id, route, span]) => row(id, String(route), span)))
const puts = fc.array(fc.tuple(device, spans, rows), { maxLength: 6 }).map((all) =>
  all.map(([company, span, own], number) => {
    const [from, until] = span.map((day) => day * DAY)
    const within = own.filter((each) => each.device === company && each.from >= from && each.from < until)
    return put(number + 1, span, within, company)
  }),
)

interface Left {
  readonly row: RouteRow
  readonly writtenAt: number
}

describe('the lines that are left', () => {
  it('are those that putting one after the other leaves', () =>
    fc.assert(
      fc.asyncProperty(rows, puts, fc.nat(8), async (ofFiles, all, time) => {
        const files = new Map(ofFiles.slice(0, 2).map((each) => [lineKey(each), time + 0.5]))
        let left = ofFiles.map((each): Left => ({ row: each, writtenAt: files.get(lineKey(each)) ?? 0 }))
        for (const { at, company_id, from, until, rows: own } of all) {
          const isReplaced = ({ row: each, writtenAt }: Left) =>
            each.device === company_id && each.from >= from && each.from < until && writtenAt < at
          left = [...left.filter((line) => !isReplaced(line)), ...own.map((each) => ({ row: each, writtenAt: at }))]
        }
        const expected = left.map(
          ({ row: each, writtenAt }) => `${each.device} ${each.route_id} ${each.from} ${writtenAt}`,
        )
        expect([...(await linesOf(ofFiles, { files, routes: all })).keys()]).toEqual([...new Set(expected)])
      }),
      { numRuns: 2000 },
    ))
})

describe('without the puts that are obsolete', () => {
  it('no line is back, and none is gone that held in the last 31 days', () =>
    fc.assert(
      fc.asyncProperty(rows, puts, fc.nat(8), async (ofFiles, all, writtenAt) => {
        const next = { ...(all.at(-1) ?? put(1, [100, 101])), at: NOW }
        const routes = all.slice(0, -1)
        const changes = await obsoletePuts({ edits: { ...NO_EDITS, at: NOW, routes }, next, rows: ofFiles, index })
        const left = new Map(changes.puts.map(({ before, after }) => [before, after]))
        const files = new Map(ofFiles.slice(0, 2).map((each) => [lineKey(each), writtenAt + 0.5]))
        const whole = await linesOf(ofFiles, { files, routes: [...routes, next] })
        const stored = routes.flatMap((each) => (left.has(each) ? (left.get(each) ?? []) : each))
        const kept = await linesOf(ofFiles, { files, routes: [...stored, next] })
        expect([...kept.keys()].filter((line) => !whole.has(line))).toEqual([])
        const lost = [...whole].filter(([line]) => !kept.has(line))
        expect(lost.filter(([, until]) => until >= NOW / 1000 - 31 * DAY)).toEqual([])
      }),
      { numRuns: 2000 },
    ))
})

describe('many puts', () => {
  it('cost what they are, and not what they are times the lines of files', async () => {
    const ofFiles = Array.from({ length: 5000 }, (_, line) => row('1', String(line), [line, line + 1]))
    const costOf = async (count: number) => {
      const routes = Array.from({ length: count }, (_, at) => put(at + 1, [5000 + at, 9000]))
      const before = process.cpuUsage()
      await linesOf(ofFiles, { routes })
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    const costs: number[][] = []
    for (let run = 0; run < 5; run++) costs.push([await costOf(1), await costOf(2000)])
    const [one, many] = [0, 1].map((which) => Math.min(...costs.map((pair) => pair[which])))
    // Looking at each line for each put takes 16 times as much and more.
    expect(many / one).toBeLessThan(6)
  })
})
