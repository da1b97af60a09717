import { yieldToEventLoop } from '../async.ts'
import { columnMistakes, parseCsv, type Row, type Table } from './csv.ts'
import { type Mistake, type Source } from './problem.ts'
import { type Interval, type Times, timesIn } from './times.ts'
import { int64, int64Mistake, isScientific } from './units.ts'

/** The lines of one routes file. */
export interface RouteFile {
  readonly name: string
  readonly rows: readonly RouteRow[]
  /** Lines that are left out, and mistakes that concern the whole file, which then has no rows. */
  readonly mistakes: readonly Mistake[]
  /** Of lines that take effect, and may not be meant so. */
  readonly warnings: readonly Mistake[]
}

/** One line of a routes file, its device not looked up yet; times in unix seconds. */
export interface RouteRow {
  readonly at: number
  readonly line: number
  /** An id or a name, which may mean several devices. */
  readonly device: string
  /** Empty: the courier of the device. */
  readonly courier_id: string
  readonly route_id: string
  readonly from: number
  readonly until: number
}

/** Reads routes.csv or one of routes/*.csv; local times are in `zone`. A bad line is left out, the others are kept. */
export async function readRoutes({ name, text }: Pick<Source, 'name' | 'text'>, zone: string): Promise<RouteFile> {
  const table = parseCsv(text)
  return table ? readTable(table, name, zone) : { name, rows: [], mistakes: [], warnings: [] }
}

/** Reads lines that are already cut into cells. */
export async function readTable(table: Table, name: string, zone: string): Promise<RouteFile> {
  const required = ['device', 'route_id', ...(table.columns.includes('date') ? [] : ['from'])]
  const mistakes = columnMistakes(table, COLUMNS, required, 'warning')
  if (mistakes.some(({ severity }) => severity !== 'warning')) return { name, rows: [], mistakes, warnings: [] }
  const readRow = rowReader(table, timesIn(zone))
  const rows: RouteRow[] = []
  const warnings: Mistake[] = []
  for (const row of table.rows) {
    await yieldToEventLoop()
    const read = row.mistake === undefined ? readRow(row) : { message: row.mistake }
    if ('message' in read) mistakes.push({ at: row.at, severity: 'left_out', ...read })
    else rows.push(read)
  }
  return { name, rows, mistakes, warnings }
}

/** The columns of a routes file, as config/README.md describes them. */
export const ROUTE_COLUMNS = {
  device: 'Required. An id or a name of the devices files.',
  courier_id: 'The courier; empty: the courier of the device.',
  route_id: 'Required. The route.',
  from: 'First instant, inclusive: RFC 3339 with an offset, or local time in `time_zone`.',
  until: 'End, exclusive, in the same formats; empty: the end of the local day of `from`.',
  date: 'Instead of `from` and `until`: a local day such as `2026-11-20`.',
}

/** The names of these columns. */
export const COLUMNS = Object.keys(ROUTE_COLUMNS)

/** The first mistake in a line. */
type CellMistake = Pick<Mistake, 'message' | 'key'>

function rowReader({ columns }: Table, times: Times): (row: Row) => RouteRow | CellMistake {
  return (row) => {
    const cell = (name: string) => row.cells[columns.indexOf(name)] ?? ''
    const [device, courier, route] = [cell('device'), cell('courier_id'), cell('route_id')]
    if (device === '') return { key: 'device', message: 'empty' }
    if (isScientific(device)) return { key: 'device', message: int64Mistake(device) }
    const courier_id = courier === '' ? '' : int64(courier)
    if (courier_id === undefined) return { key: 'courier_id', message: int64Mistake(courier) }
    const route_id = int64(route)
    if (route_id === undefined) return { key: 'route_id', message: route === '' ? 'empty' : int64Mistake(route) }
    const [date, from, until] = [cell('date'), cell('from'), cell('until')]
    const interval = intervalOf({ date, from, until }, times)
    if ('message' in interval) return interval
    return { at: row.at, line: row.line, device, courier_id, route_id, ...interval }
  }
}

function intervalOf(cells: { date: string; from: string; until: string }, times: Times): Interval | CellMistake {
  if (cells.date !== '') {
    if (cells.from !== '' || cells.until !== '')
      return { key: 'date', message: 'cannot be combined with from or until' }
    return times.day(cells.date) ?? { key: 'date', message: 'expected a day such as 2026-11-20' }
  }
  const from = times.instant(cells.from)
  if (from === undefined) return { key: 'from', message: cells.from === '' ? 'empty' : TIME_EXPECTED }
  const until = cells.until === '' ? times.endOfDay(from) : times.instant(cells.until)
  if (until === undefined) return { key: 'until', message: TIME_EXPECTED }
  return from < until ? { from, until } : { key: 'until', message: 'not after from' }
}

const TIME_EXPECTED = 'expected a time such as 2026-11-20T06:00:00Z, or local such as 2026-11-20 06:00'
