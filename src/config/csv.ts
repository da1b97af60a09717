import { say, type Text } from '../texts/text.ts'
import { lineStarts, type Mistake, unknownName } from './problem.ts'

/** A CSV file, cut into cells. */
export interface Table {
  /** The offset of the header. */
  readonly at: number
  /** In lower case. */
  readonly columns: readonly string[]
  /** The mistake of the whole file, which then has neither columns nor rows. */
  readonly mistake?: Text
  /** Can be iterated once; each line is cut when it is reached. */
  readonly rows: Iterable<Row>
}

/** One line of a CSV file. */
export interface Row {
  /** The offset of the line. */
  readonly at: number
  /** From 1. */
  readonly line: number
  /** Trimmed; as many as there are columns. */
  readonly cells: readonly string[]
  /** The mistake of the line, whose cells are then not valid. */
  readonly mistake?: Text
}

/**
 * Splits CSV into cells at `,` `;` or tab, whichever is most frequent in the header. Allows a byte order mark, CRLF and CR;
 * skips empty lines and lines that begin with #. A cell ends with its line, so that a stray quotation mark costs one line and
 * not the whole file. A line of more than 65,536 characters is not split. @returns undefined if the text has no header
 */
export function parseCsv(text: string): Table | undefined {
  const lines = significantLines(text)
  const header = lines.next().value
  if (!header) return undefined
  if (header.text.includes('\0')) return { at: header.at, columns: [], rows: [], mistake: NOT_UTF8 }
  const count = (delimiter: string) => header.text.split(delimiter).length
  const [delimiter] = DELIMITERS.toSorted((a, b) => count(b) - count(a))
  const columns = (cut(header.text, delimiter) ?? []).map((name) => name.toLowerCase())
  return { at: header.at, columns, rows: rowsOf(lines, delimiter, columns.length) }
}

/** Returns the mistakes in the header of a table. @param severity of unknown columns; a column without a name is not reported */
export function columnMistakes(
  { at, columns, mistake }: Table,
  known: readonly string[],
  required: readonly string[],
  severity?: Mistake['severity'],
): Mistake[] {
  if (mistake !== undefined) return [{ at, message: mistake }]
  const missing = required.filter((name) => !columns.includes(name))
  const repeated = columns.filter((name, index) => name !== '' && columns.indexOf(name) !== index)
  const unknown = columns.filter((name) => name !== '' && !known.includes(name))
  return [
    ...missing.map((key) => ({ at, key, message: say('this column is missing') })),
    ...repeated.map((key) => ({ at, key, message: say('this column occurs twice') })),
    ...unknown.map((key) => ({ at, key, severity, message: unknownName('column', key, known) })),
  ]
}

function* rowsOf(lines: ReturnType<typeof significantLines>, delimiter: string, width: number): Generator<Row> {
  for (const { at, line, text } of lines) {
    const cells = cut(text, delimiter)
    if (!cells) yield { at, line, cells: [], mistake: text.length > MAX_LINE_LENGTH ? TOO_LONG : MISQUOTED }
    else if (cells.some((cell) => cell !== '')) yield { at, line, cells, mistake: fit(cells, width) }
  }
}

function* significantLines(text: string) {
  const starts = lineStarts(text)
  for (const [index, start] of starts.entries()) {
    const at = index === 0 && text.startsWith(BYTE_ORDER_MARK) ? 1 : start
    const content = text.slice(at, starts[index + 1]).replace(/[\r\n]+$/, '')
    if (content.trim() !== '' && !content.startsWith('#')) yield { at, line: index + 1, text: content }
  }
}

/** Returns undefined if the line is too long, text follows a quoted cell, or a cell has no closing quotation mark. */
function cut(line: string, delimiter: string): string[] | undefined {
  if (line.length > MAX_LINE_LENGTH) return undefined
  if (!line.includes('"')) return line.split(delimiter).map((cell) => cell.trim())
  const cell = new RegExp(` *(?:"([^"]*(?:""[^"]*)*)" *|(?! *")([^${delimiter}]*))(${delimiter}|$)`, 'y')
  const cells: string[] = []
  for (let isLast = false; !isLast; ) {
    const match = cell.exec(line)
    if (!match) return undefined
    const [, quoted, plain, end] = match
    cells.push((plain ?? quoted.replaceAll('""', '"')).trim())
    isLast = end === ''
  }
  return cells
}

/** Adds or drops empty cells until there are `width`; returns a mistake if too many cells have text. */
function fit(cells: string[], width: number): Text | undefined {
  while (cells.length > width && cells.at(-1) === '') cells.pop()
  if (cells.length > width) return say('{} cells, but the header has {}', cells.length, width)
  while (cells.length < width) cells.push('')
  return undefined
}

/** Returns a cell of CSV. Spreadsheets would run a text that begins like a formula, so it gets an apostrophe in front. */
export function csvCell(value: string): string {
  const text = /^[=+@\t\r]|^-(?![\d.]+$)/.test(value) ? `'${value}` : value
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** "Unicode Text" of a spreadsheet is UTF-16, which read as UTF-8 contains NUL characters. */
const NOT_UTF8 = say('not UTF-8: save the file as "CSV UTF-8"')
const BYTE_ORDER_MARK = '\ufeff'
const DELIMITERS = [',', ';', '\t']
const MISQUOTED = say('misplaced quotation mark')
/** Cutting one line blocks the process, so lines are limited. */
const MAX_LINE_LENGTH = 65_536
const TOO_LONG = say('this line has more than {} characters', MAX_LINE_LENGTH)
