/**
 * Something about the configuration that its owner should know, never with a secret in it.
 * - `mistake`: nothing of the file takes effect; at start exit 1.
 * - `left_out`: a line of a routes file that is left out; the others take effect.
 * - `warning`: it takes effect, and may not be what was meant.
 */
export interface Problem {
  readonly severity: 'mistake' | 'left_out' | 'warning'
  /** As the user would open it: `config/gateway.yaml`. */
  readonly file: string
  /** From 1; absent where the file as a whole is meant. */
  readonly line?: number
  /** From 1; absent in CSV files, whose columns have names. */
  readonly column?: number
  /** `listeners[2].port` */
  readonly key?: string
  readonly message: string
}

/** Everything that is wrong with a configuration, at once; the message has one line for each mistake. */
export class ConfigError extends Error {
  readonly code = 'config'
  readonly mistakes: readonly Problem[]

  constructor(mistakes: readonly Problem[]) {
    super(mistakes.map(problemText).join('\n'))
    this.name = 'ConfigError'
    this.mistakes = mistakes
  }
}

/** `config/gateway.yaml:14:9 listeners[2].port: …`, in CSV files `config/routes.csv:17: route_id: …`. One line. */
export function problemText({ file, line, column, key, message }: Problem): string {
  const position = [file, line, column].filter((part) => part !== undefined).join(':')
  const place = column === undefined ? `${position}: ` : `${position} `
  return oneLine(place + (key === undefined ? message : `${key}: ${message}`))
}

/** A mistake as the readers of one file find it: at an offset into the file's text. */
export interface Mistake {
  readonly at: number
  readonly key?: string
  readonly message: string
  readonly severity?: Problem['severity']
}

/** A configuration file that was read, and how to speak of places in it. */
export interface Source {
  /** Within the configuration directory: `routes/monday.csv`. */
  readonly name: string
  /** As the user would open it: `config/routes/monday.csv`. */
  readonly file: string
  readonly text: string
}

/** Turns offsets into a file's text into lines and columns, from 1. */
export function locator(text: string): (at: number) => { line: number; column: number } {
  let starts: number[] | undefined
  return (at) => {
    starts ??= lineStarts(text)
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (starts[middle] <= at) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: at - starts[low] + 1 }
  }
}

/** Mistakes as problems, in the order of the file. */
export function problemsIn(source: Source, mistakes: readonly Mistake[]): Problem[] {
  const locate = locator(source.text)
  const columns = !source.name.endsWith('.csv')
  return mistakes
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, key, message, severity = 'mistake' }) => {
      const { line, column } = locate(at)
      return { severity, file: source.file, line, ...(columns && { column }), key, message }
    })
}

/** Where `devices.yaml:3` is, the `source` of a device or a route line; one that is of no file stands for itself. */
export function placesIn(sources: readonly Source[]): (source: string) => Pick<Problem, 'file' | 'line' | 'column'> {
  const files = new Map(sources.map((source) => [source.name, source]))
  const linesOf = new Map<string, string[]>()
  return (place) => {
    const colon = place.lastIndexOf(':')
    const name = place.slice(0, colon)
    const line = Number(place.slice(colon + 1))
    const source = files.get(name)
    if (!source) return { file: place }
    if (name.endsWith('.csv')) return { file: source.file, line }
    if (!linesOf.has(name)) linesOf.set(name, source.text.split('\n'))
    return { file: source.file, line, column: (linesOf.get(name)?.[line - 1] ?? '').search(/\S|$/) + 1 }
  }
}

/** Where the lines of a text begin, which end in LF, CRLF or CR. */
export function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === LF || (code === CR && text.charCodeAt(at + 1) !== LF)) starts.push(at + 1)
  }
  return starts
}

const LF = 0x0a
const CR = 0x0d

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}
