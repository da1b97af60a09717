import { styleText } from 'node:util'

/** Prints lines that contain foreign text, such as a device's name, in the form of `printable`. */
export function printLines(lines: readonly string[]): void {
  printExact(lines.map(printable))
}

/** Prints lines unchanged. They are written before the process ends: see `exit`. */
export function printExact(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
}

/** Ends the process once everything that it printed is written; a slow pipe takes a while. */
export function exit(code: number): Promise<never> {
  const { stdout } = process
  return new Promise(() => {
    stdout.write('', () => {
      if (stdout.errored) endUnlessPipeClosed(stdout.errored)
      process.exit(code)
    })
  })
}

/** A closed pipe (`… | head`) is not a fault. */
export function endUnlessPipeClosed({ code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return
  process.stderr.write(`The output cannot be written: ${code === 'ENOSPC' ? 'the disk is full' : code}.\n`)
  process.exit(1)
}

/** A text as one line, with a blank in place of what a terminal would act on. */
export function printable(text: string): string {
  return text.replace(NOT_PRINTABLE, ' ')
}

/** Colours a text, or returns it unchanged. */
export type Painter = (style: 'bold' | 'dim' | 'green' | 'yellow' | 'red', text: string) => string

/** For the standard output: colours on a terminal only, and none if `NO_COLOR` is set. */
export const paintOutput: Painter = (style, text) => styleText(style, text, { stream: process.stdout })

/** Splits a text into lines of at most `width` characters at blanks; a longer word has its own line. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

/** The same behind a mark. */
export function marked(mark: string, text: string, width: number): string[] {
  return wrapped(text, width - 2).map((line, index) => `${index === 0 ? mark : ' '} ${line}`)
}

/** Rows under their heads, in columns as wide as their widest cell; the last one is not padded. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [heads.map((head) => head.toUpperCase()), ...rows]
  const widths = heads.slice(0, -1).map((_, column) => Math.max(...all.map((row) => row[column].length)))
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
}

/** `Van 1, Van 2 and Van 3`; a long list is cut: `Van 1, … and 5 more`. */
export function listText(names: readonly string[]): string {
  const rest = names.length - MAX_NAMES
  const listed = [...names.slice(0, MAX_NAMES), ...(rest > 0 ? [`${rest} more`] : [])]
  return listed.length < 2 ? listed.join('') : `${listed.slice(0, -1).join(', ')} and ${listed.at(-1)}`
}

/** How many items of a list are named. */
export const MAX_NAMES = 10

// Control characters, line separators, and characters that change the direction of writing.
const NOT_PRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** `1 lane`, `3 lanes`, `2 fixes` */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}
