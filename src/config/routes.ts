import { yieldToEventLoop } from '../async.ts'
import { type DateOrder, dateOrderOf, type Interval, standardDate, type Times, timesIn } from '../domain/times.ts'
import { int64, int64Mistake, isScientific } from '../domain/units.ts'
import { joined, say, type Text } from '../texts/text.ts'
import { columnMistakes, parseCsv, type Row, type Table } from './csv.ts'
import { lineStarts, type Mistake, type Source } from './problem.ts'

/** The lines of one routes file. */
export interface RouteFile {
  readonly name: string
  readonly rows: readonly RouteRow[]
  /** Lines that are left out, and mistakes that concern the whole file, which then has no rows. */
  readonly mistakes: readonly Mistake[]
  /** Lines that take effect but may be mistakes. */
  readonly warnings: readonly Mistake[]
  /** How dates such as 22/11/2026 are read. */
  readonly order?: DateOrder
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

/** Reads routes.csv or one of routes/*.csv; local times are in `zone`. Skips bad lines, and keeps the others. */
export async function readRoutes({ name, text }: Pick<Source, 'name' | 'text'>, zone: string): Promise<RouteFile> {
  const table = parseCsv(withoutRosterTitle(text))
  return table ? readRouteTable(table, name, zone) : { name, rows: [], mistakes: [], warnings: [] }
}

/** The text of a roster with blanks in place of the lines above its header, so that all else keeps its place. */
export function withoutRosterTitle(text: string): string {
  const starts = lineStarts(text)
  const header = starts.slice(0, MOST_TITLE_LINES).find((start, line) => {
    const columns = knownColumns(parseCsv(text.slice(start, starts[line + 1]))?.columns ?? [])
    return columns.includes('device') && columns.includes('route_id')
  })
  return header === undefined ? text : text.slice(0, header).replaceAll(/[^\r\n]/g, ' ') + text.slice(header)
}

/**
 * Reads lines that are split into cells. Columns may have names of other languages; dates such as 22/11/2026 are read if one
 * of them shows which number is the day.
 */
export async function readRouteTable(cut: Table, name: string, zone: string): Promise<RouteFile> {
  const table = { ...cut, columns: knownColumns(cut.columns) }
  const required = ['device', 'route_id', ...(table.columns.includes('date') ? [] : ['from'])]
  const mistakes = columnMistakes(table, COLUMNS, required, 'warning')
  if (mistakes.some(({ severity }) => severity !== 'warning')) return { name, rows: [], mistakes, warnings: [] }
  const lines: Row[] = []
  for (const row of table.rows) {
    await yieldToEventLoop()
    lines.push(row)
  }
  const dated = DATED.map((column) => table.columns.indexOf(column))
  const order = dateOrderOf(lines.values().flatMap(({ cells }) => dated.map((at) => cells[at] ?? '')))
  const times = timesIn(zone)
  const readRow = rowReader(table, times, order)
  const device = table.columns.indexOf('device')
  const rows: RouteRow[] = []
  const warnings: Mistake[] = []
  for (const row of lines) {
    await yieldToEventLoop()
    const read = row.mistake === undefined ? readRow(row) : { message: row.mistake }
    if ('message' in read)
      mistakes.push({ at: row.at, severity: 'left_out', device: row.cells[device] || undefined, ...read })
    else {
      rows.push(read.row)
      warnings.push(...read.doubts)
    }
  }
  return { name, rows, mistakes, warnings, order }
}

const DATED = ['from', 'until', 'date']

/** The first mistake in a line. */
type CellMistake = Pick<Mistake, 'message' | 'key'>

function rowReader(
  { columns }: Pick<Table, 'columns'>,
  times: Times,
  order: DateOrder,
): (row: Row) => { readonly row: RouteRow; readonly doubts: readonly Mistake[] } | CellMistake {
  return ({ at, line, cells: texts }) => {
    const cell = (name: string) => texts[columns.indexOf(name)] ?? ''
    const [device, courier, route] = [cell('device'), cell('courier_id'), cell('route_id')]
    if (device === '') return { key: 'device', message: say('empty') }
    if (isScientific(device)) return { key: 'device', message: int64Mistake(device) }
    const courier_id = courier === '' ? '' : int64(courier)
    if (courier_id === undefined) return { key: 'courier_id', message: shown(int64Mistake(courier), courier) }
    const route_id = int64(route)
    if (route_id === undefined)
      return { key: 'route_id', message: route === '' ? say('empty') : shown(int64Mistake(route), route) }
    const cells = { date: cell('date'), from: cell('from'), until: cell('until') }
    for (const key of ['date', 'from', 'until'] as const) {
      const text = standardDate(cells[key], order)
      if (typeof text !== 'string') return { key, ...text }
      cells[key] = text
    }
    const interval = intervalOf(cells, times)
    if ('message' in interval) return interval
    const doubts = (['from', 'until'] as const).flatMap((key): Mistake[] => {
      const message = times.doubt(cells[key])
      return message === undefined ? [] : [{ at, severity: 'warning', key, message }]
    })
    return { row: { at, line, device, courier_id, route_id, ...interval }, doubts }
  }
}

function shown(mistake: Text, text: string): Text {
  return isScientific(text) ? mistake : joined([mistake, say('not "{}"', text.slice(0, MOST_SHOWN))], ', ')
}

const MOST_SHOWN = 40
/** The header of a roster must be within this many lines. */
const MOST_TITLE_LINES = 20

function intervalOf(cells: { date: string; from: string; until: string }, times: Times): Interval | CellMistake {
  if (cells.date !== '') {
    if (cells.from !== '' || cells.until !== '')
      return { key: 'date', message: say('cannot be combined with from or until') }
    return times.day(cells.date) ?? { key: 'date', message: say('expected a day such as 2026-11-20') }
  }
  const from = times.instant(cells.from)
  if (from === undefined) return { key: 'from', message: cells.from === '' ? say('empty') : TIME_EXPECTED }
  const until = cells.until === '' ? times.endOfDay(from) : times.instant(cells.until)
  if (until === undefined) return { key: 'until', message: TIME_EXPECTED }
  return from < until ? { from, until } : { key: 'until', message: say('not after from') }
}

const TIME_EXPECTED = say('expected a time such as 2026-11-20T06:00:00Z, or local such as 2026-11-20 06:00')

/** The columns of a routes file, as config/fleet.md describes them. */
export const ROUTE_COLUMNS = {
  device: 'Required. An id or a name of the devices files.',
  courier_id: 'The courier; empty: the courier of the device.',
  route_id: 'Required. The route.',
  from: 'First instant, inclusive: RFC 3339 with an offset, or local time in `time_zone`.',
  until: 'End, exclusive, in the same formats; empty: the end of the local day of `from`.',
  date: 'Instead of `from` and `until`: a local day such as `2026-11-20`.',
}

export const COLUMNS: readonly string[] = Object.keys(ROUTE_COLUMNS)

/** The columns of a roster in German, French, Spanish, Dutch, Polish and Italian, without accents. */
const NAMES: Readonly<Record<string, string>> = {
  device:
    'gerat geraet fahrzeug wagen vehicle tracker vehicule appareil dispositif vehiculo dispositivo voertuig apparaat pojazd urzadzenie veicolo',
  courier_id:
    'courier driver fahrer kurier coursier livreur conducteur chauffeur mensajero repartidor conductor koerier bestuurder kierowca corriere autista conducente',
  route_id: 'route tour tournee itineraire ruta rit trasa percorso giro itinerario',
  from: 'start begin beginn von ab de du debut desde inicio van vanaf od poczatek da dal inizio',
  until: 'to end ende bis a au fin jusque hasta tot einde do koniec al fino fine',
  date: 'day datum tag jour fecha dia dag data dzien giorno',
}

const KNOWN = new Map(
  Object.entries(NAMES).flatMap(([column, names]) => names.split(' ').map((name) => [name, column] as const)),
)

/** Returns the columns of a header under the names of config/fleet.md; unknown columns keep their name. */
export function knownColumns(columns: readonly string[]): string[] {
  return columns.map((column) => (COLUMNS.includes(column) ? column : (KNOWN.get(plain(column)) ?? column)))
}

/** Returns a column name without accents and case, and without the part that means "id": `Fahrer-Nr.` becomes `fahrer`. */
function plain(column: string): string {
  const letters = column.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll('ł', 'l')
  return letters.replace(/[\s_.-]+(?:id|nr|no|num|nummer|numero|numer)\.?$/, '').trim()
}
