import { yieldToEventLoop } from '../async.ts'
import { isDigits } from '../domain/ids.ts'
import { type IdReading, readDeviceId } from '../domain/imei.ts'
import { int64, isScientific } from '../domain/units.ts'
import { say, type Text } from '../texts/text.ts'
import { parseCsv, type Row, type Table } from './csv.ts'

/** Possible meanings of a column in a list of vans. */
export const SHEET_FIELDS = ['device', 'name', 'courier_id', 'route_id', 'time_zone', 'model'] as const
export type SheetField = (typeof SHEET_FIELDS)[number]

/** One column of a list of vans. `note`: why it is read this way, or ignored. */
interface SheetColumn {
  readonly name: string
  readonly read_as: SheetField | null
  readonly note?: Text
}

/** One line of a list of vans; `cells`: those of its columns that are not empty, without the id. */
export interface SheetRow {
  readonly line: number
  /** The id as the cell has it. */
  readonly given: string
  readonly id: IdReading
  readonly cells: ReadonlyMap<SheetField, string>
}

export interface DeviceSheet {
  readonly columns: readonly SheetColumn[]
  readonly rows: readonly SheetRow[]
  /** Lines that cannot be read. */
  readonly rejected: readonly { readonly line: number; readonly message: Text }[]
}

/** Columns that somebody has assigned by hand, by their names in the sheet in lower case; null: left aside. */
export type ColumnChoice = ReadonlyMap<string, SheetField | null>

/**
 * Reads a fleet's own list of vans, CSV: columns in any order, in six languages, optionally below title lines. It is tolerant
 * because a person sees a preview before anything is written; devices.csv has a stricter reader.
 */
export async function readDeviceSheet(text: string, chosen: ColumnChoice = new Map()): Promise<DeviceSheet> {
  const table = parseCsv(withoutTitle(text, chosen))
  return table ? readDeviceTable(table, chosen) : { columns: [], rows: [], rejected: [] }
}

/** As `readDeviceSheet`, of lines that are already cut into cells. */
export async function readDeviceTable(table: Table, chosen: ColumnChoice = new Map()): Promise<DeviceSheet> {
  if (table.mistake !== undefined) return { columns: [], rows: [], rejected: [{ line: 1, message: table.mistake }] }
  const lines: Row[] = []
  for (const row of table.rows) {
    await yieldToEventLoop()
    lines.push(row)
  }
  const columns = columnsOf(table.columns, lines, chosen)
  const rows: SheetRow[] = []
  const rejected: { line: number; message: Text }[] = []
  const at = (field: SheetField) => columns.findIndex(({ read_as }) => read_as === field)
  const place = at('device')
  if (place < 0) return { columns, rows, rejected }
  for (const { line, cells, mistake } of lines) {
    await yieldToEventLoop()
    const given = cells[place] ?? ''
    const filled = SHEET_FIELDS.filter((field) => field !== 'device').map(
      (field) => [field, cells[at(field)] ?? ''] as const,
    )
    const message = mistake ?? (given === '' ? say('it has no id of a device') : undefined)
    if (message !== undefined) rejected.push({ line, message })
    else rows.push({ line, given, id: readDeviceId(given), cells: new Map(filled.filter(([, cell]) => cell !== '')) })
  }
  return { columns, rows: doubtOthers(rows), rejected }
}

/** The text with its lines above the header emptied, so that lines keep their numbers. */
function withoutTitle(text: string, chosen: ColumnChoice): string {
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/)
  const found = lines.slice(0, MOST_TITLE_LINES).map((line) => {
    const { columns = [] } = parseCsv(line) ?? {}
    const isHeader = columns.some((name) => chosen.has(name)) || columns.some((name) => placeOf(name, 'device') >= 0)
    return { known: columns.filter((name) => meaningOf(name)).length, isHeader: isHeader && columns.length > 1 }
  })
  const sure = found.findIndex(({ known, isHeader }) => isHeader && known > 1)
  const likely = sure >= 0 ? sure : found.findIndex(({ known, isHeader }) => isHeader || known > 1)
  const header =
    likely >= 0 ? likely : lines.findIndex((line) => (parseCsv(line)?.columns ?? []).filter(Boolean).length > 1)
  return lines.map((line, at) => (at < header ? (/[\r\n]*$/.exec(line)?.[0] ?? '') : line)).join('')
}

/** Returns the meaning of each column. A manual choice has priority, then the name that comes first in the list. */
function columnsOf(names: readonly string[], lines: readonly Row[], chosen: ColumnChoice): SheetColumn[] {
  const taken = new Map<SheetField, number>()
  const notes = new Map<number, Text>()
  const cellsAt = (at: number) => lines.flatMap(({ cells }) => cells[at] || [])
  const free = (at: number) => names[at] !== '' && !chosen.has(names[at]) && !notes.has(at)
  for (const [at, name] of names.entries()) {
    const field = chosen.get(name)
    if (field && !taken.has(field)) taken.set(field, at)
  }
  for (const field of SHEET_FIELDS) {
    if (taken.has(field)) continue
    const candidates = names
      .map((name, at) => ({ at, rank: placeOf(name, field) }))
      .filter(({ at, rank }) => rank >= 0 && free(at))
      .toSorted((a, b) => a.rank - b.rank)
    for (const { at } of candidates) if (isNamesOfPeople(field, cellsAt(at))) notes.set(at, NOT_IDS)
    const fit = candidates.filter(({ at }) => !notes.has(at))
    // Of the columns "Sprinter" (the same for every van) and plate, only the plate distinguishes the vans.
    const best = (field === 'name' && fit.find(({ at }) => areDistinct(cellsAt(at)))) || fit[0]
    if (!best) continue
    taken.set(field, best.at)
    for (const { at } of fit)
      if (at !== best.at) notes.set(at, say('left aside: "{}" is read in its place', names[best.at]))
  }
  if (!taken.has('device')) {
    const like = names.flatMap((_, at) => (!chosen.has(names[at]) && areImeis(cellsAt(at)) ? at : []))
    if (like.length === 1) {
      for (const [field, at] of taken) if (at === like[0]) taken.delete(field)
      taken.set('device', like[0])
      notes.set(like[0], say('its cells look like IMEIs'))
    }
  }
  const fields = new Map(Array.from(taken, ([field, at]) => [at, field] as const))
  return names.map((name, at) => {
    const read_as = fields.get(at) ?? null
    const note = notes.get(at) ?? (read_as === null && name !== '' ? asideNote(name) : undefined)
    return { name, read_as, ...(note !== undefined && { note }) }
  })
}

function asideNote(name: string): Text {
  const meaning = meaningOf(name)
  return meaning && meaning in ASIDE ? ASIDE[meaning as keyof typeof ASIDE] : say('not recognised: left aside')
}

/** Returns whether a column that may have courier ids has no id at all. */
function isNamesOfPeople(field: SheetField, cells: readonly string[]): boolean {
  return (
    ['courier_id', 'route_id'].includes(field) && cells.length > 0 && cells.every((cell) => int64(cell) === undefined)
  )
}

function areDistinct(cells: readonly string[]): boolean {
  return cells.length > 0 && new Set(cells.map((cell) => cell.toLowerCase())).size === cells.length
}

function areImeis(cells: readonly string[]): boolean {
  const like = cells.filter((cell) => isScientific(cell) || /^\d{14,16}$/.test(readDeviceId(cell).id ?? ''))
  return cells.length > 0 && like.length * 2 > cells.length
}

/** Marks ids that are no IMEIs as doubtful if most of the others are. */
function doubtOthers(rows: readonly SheetRow[]): SheetRow[] {
  const isLike = ({ id }: SheetRow) => id.doubt !== undefined || /^\d{14,16}$/.test(id.id ?? '')
  if (rows.filter(isLike).length * 4 <= rows.length * 3) return [...rows]
  return rows.map((row) => {
    if (isLike(row)) return row
    const { id = '' } = row.id
    const doubt = isDigits(id)
      ? say('it has {} digits: most ids of the list are IMEIs, which have 15', id.length)
      : say('it is no IMEI, as most ids of the list are')
    return { ...row, id: { ...row.id, doubt } }
  })
}

/** Returns the rank of a column among the names of a field; -1: it is none of them. */
function placeOf(column: string, field: SheetField): number {
  const name = plain(column)
  const place = NAMES[field].indexOf(name)
  if (place >= 0 || field !== 'device') return place
  return /\bimei\b/.test(name) ? NAMES.device.length : -1
}

function meaningOf(column: string): string | undefined {
  const name = plain(column)
  const field = SHEET_FIELDS.find((each) => placeOf(column, each) >= 0)
  return field ?? Object.keys(KEPT_BY_NOBODY).find((each) => KEPT_BY_NOBODY[each as keyof typeof ASIDE].includes(name))
}

/** Returns a column name in lower case, without accents, brackets, and the parts that mean "number" or "id". */
function plain(column: string): string {
  const letters = column.toLowerCase().replaceAll('ß', 'ss').normalize('NFD').replaceAll(/\p{M}/gu, '')
  const words = letters
    .replaceAll('ł', 'l')
    .replaceAll(/\(.*?\)/g, ' ')
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word.replace(/(?<=\p{L}{3})(?:nummer|nr)$/u, ''))
    .filter((word) => word !== '')
  const telling = words.filter((word) => !NOISE.has(word))
  return (telling.length > 0 ? telling : words).join(' ')
}

const NOISE = new Set('id ids nr no n num number nummer numero numer de del du des di van der of the'.split(' '))

function namesIn(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim())
}

/** The names of columns without accents, the surest first: English, German, French, Spanish, Italian, Polish, Dutch. */
const NAMES: Readonly<Record<SheetField, readonly string[]>> = {
  device: namesIn(
    'imei, device, device imei, tracker, unique, uniqueid, identifier, kennung, gerat, geraet, gerate, geraete, tracker imei, boitier, balise, appareil, traceur, dispositivo, equipo, localizador, localizzatore, urzadzenie, lokalizator, apparaat, toestel, tracker serial, serial, serien, seriennummer, serie, seriale, seryjny, serienummer, unit, terminal, id',
  ),
  name: namesIn(
    'name, plate, license plate, licence plate, number plate, registration, registration plate, reg, kennzeichen, kfz kennzeichen, amtliches kennzeichen, nummernschild, immatriculation, plaque, plaque immatriculation, immat, matricula, placa, patente, targa, rejestracyjny, rejestracja, tablica rejestracyjna, kenteken, nummerplaat, van, vehicle, vehicle name, label, bezeichnung, fahrzeug, wagen, fahrzeugname, nom, vehicule, vehiculo, nombre, veicolo, mezzo, nome, pojazd, nazwa, nazwa pojazdu, voertuig, naam',
  ),
  courier_id: namesIn(
    'courier_id, courier, driver, fahrer, kurier, coursier, livreur, conducteur, chauffeur, mensajero, repartidor, conductor, corriere, autista, conducente, kierowca, kurier, koerier, bestuurder',
  ),
  route_id: namesIn('route_id, route, tour, tournee, itineraire, ruta, percorso, giro, itinerario, trasa, rit'),
  time_zone: namesIn(
    'time_zone, time zone, timezone, zeitzone, fuseau horaire, zona horaria, fuso orario, strefa czasowa, tijdzone',
  ),
  model: namesIn(
    'tracker model, device model, geratemodell, trackermodell, modele tracker, modelo tracker, modello tracker',
  ),
}

/** Columns that are recognised but not used. */
const KEPT_BY_NOBODY: Readonly<Record<keyof typeof ASIDE, readonly string[]>> = {
  sim: namesIn(
    'sim, sim card, simcard, iccid, msisdn, phone, telephone, telefon, rufnummer, rufnr, ruf, sim karte, simkarte, carte sim, tarjeta sim, telefono, scheda sim, karta sim, simkaart, telefoon, mobile, mobil, handy',
  ),
  comment: namesIn(
    'comment, comments, note, notes, remark, remarks, kommentar, bemerkung, bemerkungen, anmerkung, notiz, hinweis, commentaire, commentaires, remarque, observation, observations, comentario, comentarios, observaciones, nota, notas, commento, note, osservazioni, komentarz, uwagi, opmerking, opmerkingen, notitie',
  ),
  company: namesIn('company, firma, unternehmen, kunde, societe, entreprise, empresa, azienda, ditta, bedrijf'),
  vehicle: namesIn('model, modell, modele, modelo, modello, type, typ, fahrzeugtyp, fahrzeugmodell'),
  guard: namesIn('secret, previous secret, protocol, transports, networks, client certificate, settings'),
}

const ASIDE = {
  sim: say('SIM or telephone number: not kept'),
  comment: say('comment: not kept'),
  company: say('the company is chosen once, for the whole list'),
  vehicle: say('perhaps the model of the vehicle: left aside'),
  guard: say('not read from a list: write it into the entry of the van'),
}
const NOT_IDS = say('it has names, and no ids: left aside')
const MOST_TITLE_LINES = 20
