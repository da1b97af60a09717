/** A CSV file, cut: cells are trimmed, and there are as many as columns. */
export interface Table {
  /** Where the header begins in the text. */
  readonly at: number
  /** In lower case. */
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
}

export interface Row {
  /** Where its line begins in the text. */
  readonly at: number
  /** From 1. */
  readonly line: number
  readonly cells: readonly string[]
  /** What is wrong with the line; its cells are then not to be relied on. */
  readonly mistake?: string
}

/**
 * Cuts CSV with `,` `;` or tab between cells, whichever the header has most of; byte order mark and CRLF are all right, empty
 * lines and those that begin with # are passed over. A cell does not go over a line's end: so one quotation mark too many
 * costs its own line, not the rest of the file.
 * @returns undefined where there is not even a header
 */
export function parseCsv(text: string): Table | undefined {
  const lines = significantLines(text)
  const header = lines.next().value
  if (!header) return undefined
  const delimiter = delimiterOf(header.text)
  const columns = (cut(header.text, delimiter) ?? []).map((name) => name.toLowerCase())
  const rows: Row[] = []
  for (const { text: line, ...place } of lines) {
    const cells = cut(line, delimiter)
    if (!cells) rows.push({ ...place, cells: columns.map(() => ''), mistake: 'a quotation mark is out of place' })
    else if (cells.some((cell) => cell !== '')) rows.push({ ...place, ...fit(cells, columns.length) })
  }
  return { at: header.at, columns, rows }
}

function* significantLines(text: string): Generator<{ at: number; line: number; text: string }> {
  let line = 1
  for (let at = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0; at < text.length; line++) {
    const feed = text.indexOf('\n', at)
    const end = feed === -1 ? text.length : feed
    const content = text.slice(at, text.charCodeAt(end - 1) === CR ? end - 1 : end)
    if (content.trim() !== '' && !content.startsWith('#')) yield { at, line, text: content }
    at = end + 1
  }
}

function delimiterOf(header: string): string {
  const count = (delimiter: string) => header.split(delimiter).length
  return DELIMITERS.toSorted((a, b) => count(b) - count(a))[0]
}

/** Undefined where a quoted cell does not end, or goes on after its end. */
function cut(line: string, delimiter: string): string[] | undefined {
  if (!line.includes('"')) return line.split(delimiter).map((cell) => cell.trim())
  const cells: string[] = []
  for (let at = 0; at <= line.length; ) {
    const quoted = quotedCell(line, at, delimiter)
    if (quoted === 'broken') return undefined
    const end = quoted ? quoted.end : endOf(line, at, delimiter)
    cells.push(quoted ? quoted.cell : line.slice(at, end).trim())
    at = end + 1
  }
  return cells
}

function quotedCell(line: string, at: number, delimiter: string): { cell: string; end: number } | 'broken' | undefined {
  const start = at + /^ */.exec(line.slice(at))![0].length
  if (line[start] !== '"') return undefined
  const quoted = QUOTED.exec(line.slice(start))
  if (!quoted) return 'broken'
  const end = endOf(line, start + quoted[0].length, delimiter)
  const after = line.slice(start + quoted[0].length, end)
  return after.trim() === '' ? { cell: quoted[1].replaceAll('""', '"').trim(), end } : 'broken'
}

function endOf(line: string, at: number, delimiter: string): number {
  const end = line.indexOf(delimiter, at)
  return end === -1 ? line.length : end
}

function fit(cells: string[], width: number): Pick<Row, 'cells' | 'mistake'> {
  while (cells.length > width && cells.at(-1) === '') cells.pop()
  if (cells.length > width) return { cells, mistake: `${cells.length} cells, where the header has ${width}` }
  while (cells.length < width) cells.push('')
  return { cells }
}

const BYTE_ORDER_MARK = '\ufeff'
const CR = 0x0d
const DELIMITERS = [',', ';', '\t']
const QUOTED = /^"((?:[^"]|"")*)"/
