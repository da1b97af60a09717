import { isImei } from '../../src/domain/ids.ts'
import { sheetFiles, zip } from './xlsx.ts'

/** The IMEI of a van of the list, 1 to 300. */
export function imeiOf(van: number): string {
  const digits = `35419411${String(2000 + van * 7).padStart(6, '0')}`
  return Array.from('0123456789', (digit) => digits + digit).find(isImei) as string
}

export const plateOf = (van: number) => `MÜ-LG ${100 + van}`
/** In which line of the list a van stands. */
export const lineOf = (van: number) => van + 4

/** Vans whose IMEI is broken, and what the list has in its place. */
export const BROKEN: Readonly<Record<number, string>> = {
  17: '3,54194E+14',
  90: '354194000000000',
  // A wrong digit: its last one does not fit any more.
  151: imeiOf(151).replace(/.$/, (digit) => String((Number(digit) + 3) % 10)),
  // That of its neighbour.
  222: imeiOf(221),
  299: 'folgt',
}

/** Vans whose IMEI is written in another way. */
const WRITTEN: Readonly<Record<number, string>> = {
  3: `'${imeiOf(3)}`,
  4: `${imeiOf(4)}.0`,
  5: imeiOf(5).slice(0, -1),
  6: `${imeiOf(6).slice(0, 2)}-${imeiOf(6).slice(2, 8)}-${imeiOf(6).slice(8, 14)}-${imeiOf(6).slice(14)}`,
}

/** The list of a German fleet of 300 vans: lines of a title, plates, drivers, SIM cards, comments, five broken IMEIs. */
function fleetRows(): string[][] {
  const vans = Array.from({ length: 300 }, (_, at) => at + 1)
  return [
    ['Fuhrpark Müller Logistik GmbH'],
    ['Stand: 20.11.2026; alle Fahrzeuge'],
    [],
    ['Lfd. Nr.', 'Kennzeichen', 'Fahrzeug', 'IMEI-Nummer', 'Fahrer', 'SIM-Karte', 'Bemerkung'],
    ...vans.map((van) => [
      String(van),
      plateOf(van),
      'Sprinter',
      BROKEN[van] ?? WRITTEN[van] ?? imeiOf(van),
      `Jörg ${van}`,
      `0151 ${2_000_000 + van}`,
      van % 9 === 0 ? 'Kühlfahrzeug; neue Reifen' : '',
    ]),
  ]
}

/** As a German spreadsheet saves it as CSV: semicolons, CRLF, Windows-1252. */
export function fleetCsv(): Buffer {
  const lines = fleetRows().map((row) => Array.from({ length: 7 }, (_, at) => quoted(row[at] ?? '')).join(';'))
  return Buffer.from(lines.map((line) => `${line}\r\n`).join(''), 'latin1')
}

function quoted(text: string): string {
  return text.includes(';') ? `"${text}"` : text
}

/** As .xlsx, where IMEIs of 15 digits are numbers. */
export function fleetXlsx(): Buffer {
  return zip(
    sheetFiles(
      fleetRows().map((row) => row.map((cell, at) => (at === 3 && /^\d{14,15}$/.test(cell) ? Number(cell) : cell))),
    ),
  )
}
