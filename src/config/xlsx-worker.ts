/* The thread that reads one spreadsheet and answers with `{ text }`, CSV, or `{ message }`. */
import { parentPort, workerData } from 'node:worker_threads'
import { readSheet } from 'read-excel-file/universal'
import { knownColumns } from './routes.ts'

type SheetCell = string | number | boolean | Date | null

try {
  const bytes = workerData as Uint8Array<ArrayBuffer>
  const rows = (await readSheet(bytes.slice().buffer, {
    parseNumber: numberText as never,
    trim: false,
  })) as SheetCell[][]
  const header = knownColumns(
    (rows.find((row) => row.some((cell) => cell !== null)) ?? []).map((cell) => cellText(cell)),
  )
  const text = rows.map((row) => row.map((cell, at) => quoted(cellText(cell, header[at] === 'date'))).join(','))
  answer({ text: text.join('\n') })
} catch (error) {
  answer({ message: (error as Error).message })
}

function answer(message: Readonly<Partial<Record<'text' | 'message', string>>>): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(message)
}

/** Returns the digits of a number. A spreadsheet stores 15 of them: a longer id differs from the typed one. */
function numberText(written: string): string {
  const number = Number(written)
  if (!Number.isInteger(number)) return written
  return Math.abs(number) < 1e15 ? String(number) : number.toExponential(5).replace(/\.?0*e/, 'E')
}

/** The text of a cell; a date as local time, without an offset. @param isDay the day alone */
function cellText(cell: SheetCell, isDay = false): string {
  if (!(cell instanceof Date)) return String(cell ?? '').trim()
  // A spreadsheet counts in fractions of a day, which are not exact.
  const shown = new Date(Math.round(cell.getTime() / 1000) * 1000).toISOString()
  return isDay ? shown.slice(0, 10) : shown.slice(0, 19).replace('T', ' ')
}

function quoted(text: string): string {
  const line = text.replaceAll(/[\r\n]+/g, ' ')
  return /[",;\t#]/.test(line) ? `"${line.replaceAll('"', '""')}"` : line
}
