import { lineStarts, locator } from '../config/problem.ts'
import type { RouteFile } from '../roster/routes.ts'
import type { Window } from './window.ts'

/** What of a file is put in place of the lines of a window. */
export interface Part {
  readonly window: Window
  /** As it is sent: lines have the numbers of the file. */
  readonly body: Buffer
}

/** The whole file for one window; for several each with the lines that begin in it, and the first with those that cannot be read. */
export function partsOf(file: Buffer, { rows, mistakes }: RouteFile, windows: readonly Window[]): Part[] {
  if (windows.length === 1) return [{ window: windows[0], body: file }]
  const locate = locator(file.toString())
  const unread = mistakes.filter(({ severity }) => severity === 'left_out').map(({ at }) => locate(at).line)
  return windows.map((window, index) => {
    const elsewhere = rows.filter(({ from }) => from < window.from || from >= window.until)
    const left = new Set([...(index === 0 ? [] : unread), ...elsewhere.map(({ line }) => line)])
    return { window, body: without(file, left) }
  })
}

/** The file with these lines empty, so that the others keep their numbers. */
function without(file: Buffer, left: ReadonlySet<number>): Buffer {
  // A character for each byte: what is no UTF-8 goes out as it is, and is refused as such.
  const text = file.toString('latin1')
  const starts = lineStarts(text)
  const lines = starts.map((start, index) => {
    const line = text.slice(start, starts[index + 1])
    return left.has(index + 1) ? /[\r\n]*$/.exec(line)![0] : line
  })
  return Buffer.from(lines.join(''), 'latin1')
}
