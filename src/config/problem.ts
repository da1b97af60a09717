import { LineCounter } from 'yaml'
import { english, joined, type Text } from '../texts/text.ts'

/**
 * One thing in the configuration that its owner should know. It never contains a secret.
 * - `mistake`: nothing of the file takes effect; at start the process exits with 78.
 * - `weak`: a secret that is easy to guess, or tiles that cannot be shown. `check` refuses it; it still takes effect, because
 * a start must not fail for it.
 * - `left_out`: this line of a routes file is skipped; the other lines take effect.
 * - `warning`: it takes effect, but may not be intended.
 */
export interface Problem {
  readonly severity: 'mistake' | 'weak' | 'left_out' | 'warning'
  /** The path as the user would open it: `config/gateway.yaml`. */
  readonly file: string
  /** From 1; absent if the problem concerns the whole file. */
  readonly line?: number
  /** From 1; absent in CSV files, whose columns have names. */
  readonly column?: number
  /** `listeners[2].port` */
  readonly key?: string
  /** For a line of a routes file: the device that it names, as written there. */
  readonly device?: string
  /** For a line of a routes file that the roster leaves out: what the roster lacks. */
  readonly lacks?: 'device' | 'courier'
  readonly message: Text
}

/** All mistakes of a configuration; the message has one line for each. */
export class ConfigError extends Error {
  readonly code = 'config'
  readonly mistakes: readonly Problem[]

  constructor(mistakes: readonly Problem[]) {
    super(mistakes.map(problemText).join('\n'))
    this.name = 'ConfigError'
    this.mistakes = mistakes
  }
}

/** The error of a gateway.yaml that is right by itself, and that this process cannot run with. */
export function inGateway(message: string): ConfigError {
  return new ConfigError([{ severity: 'mistake', file: 'gateway.yaml', message }])
}

/** One line: `config/gateway.yaml:14:9 listeners[2].port: …`, in CSV files `config/routes.csv:17: route_id: …`. */
export function problemText({ file, line, column, key, message }: Problem): string {
  const position = [file, line, column].filter((part) => part !== undefined).join(':')
  const place = column === undefined ? `${position}: ` : `${position} `
  return (place + english(keyedText({ key, message }))).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}

/** A message after the key that it is about. */
export function keyedText({ key, message }: Pick<Problem, 'key' | 'message'>): Text {
  return joined([key ?? [], message].flat(), ': ')
}

/** A problem as the reader of one file finds it: at an offset into the text. */
export interface Mistake {
  readonly at: number
  readonly key?: string
  readonly device?: string
  readonly lacks?: Problem['lacks']
  readonly message: Text
  readonly severity?: Problem['severity']
}

/** A configuration file that was read. */
export interface Source {
  /** The path within the configuration directory: `routes/monday.csv`. */
  readonly name: string
  /** The path as the user would open it: `config/routes/monday.csv`. */
  readonly file: string
  readonly text: string
}

/** Mistakes as problems, in the order of the file. */
export function problemsIn(source: Source, mistakes: readonly Mistake[]): Problem[] {
  const locate = locator(source.text)
  const hasColumns = !source.name.endsWith('.csv')
  return mistakes
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, severity = 'mistake', ...what }) => {
      const { line, column } = locate(at)
      return { severity, file: source.file, line, ...(hasColumns && { column }), ...what }
    })
}

/**
 * Finds the place of `devices.yaml:3`, the `source` of a device or a route line; a source that is no file is its own
 * place.
 */
export function placesIn(sources: readonly Source[]): (source: string) => Pick<Problem, 'file' | 'line' | 'column'> {
  const files = new Map(sources.map(({ name, file }) => [name, file]))
  return (place) => {
    const colon = place.lastIndexOf(':')
    const name = place.slice(0, colon)
    const file = files.get(name)
    if (file === undefined) return { file: place }
    return { file, line: Number(place.slice(colon + 1)), ...(!name.endsWith('.csv') && { column: 1 }) }
  }
}

/** Converts offsets into a text to lines and columns, both from 1. */
export function locator(text: string): (at: number) => { line: number; column: number } {
  let counter: LineCounter | undefined
  return (at) => {
    counter ??= Object.assign(new LineCounter(), { lineStarts: lineStarts(text) })
    const { line, col: column } = counter.linePos(at)
    return { line, column }
  }
}

/** The offset of each line of a text; a line ends with LF, CRLF or CR. */
export function lineStarts(text: string): number[] {
  const starts = [0]
  for (const { index, 0: end } of text.matchAll(/\r\n?|\n/g)) starts.push(index + end.length)
  return starts
}

/** `unknown key: did you mean max_wait?`, or the known names if none is similar. */
export function unknownName(kind: string, name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  if (near !== undefined) return `unknown ${kind}: did you mean ${near}?`
  return known.length === 0 ? `unknown ${kind}` : `unknown ${kind}: expected one of ${known.join(', ')}`
}

/** Returns the most similar known name; undefined if more than a third of its letters differ, or more than `mostEdits`. */
export function nearest(name: string, known: readonly string[], mostEdits = Infinity): string | undefined {
  const near = known.flatMap((candidate) => {
    const edits = distance(name.toLowerCase().slice(0, 64), candidate.toLowerCase())
    return edits <= Math.min(mostEdits, Math.max(1, candidate.length / 3)) ? [{ candidate, edits }] : []
  })
  return near.toSorted((a, b) => a.edits - b.edits)[0]?.candidate
}

/** The number of letters to insert, delete, replace or swap with their neighbour that turns one word into the other. */
function distance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = last[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1)
      row[j] = Math.min(replaced, last[j] + 1, row[j - 1] + 1)
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        row[j] = Math.min(row[j], beforeLast[j - 2] + 1)
    }
    beforeLast = last
    last = row
  }
  return last[to.length]
}
