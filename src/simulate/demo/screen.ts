import { styleText } from 'node:util'
import { blockOf, lineOf, type Paint, type View } from './view.ts'

/** Where people watch. */
export interface Screen {
  /** Lines that stay. */
  say(...lines: string[]): void
  /** How it stands: in a block that is drawn anew, or, where there is no terminal, in a line a second. */
  show(view: View): void
  readonly paint: Paint
}

/** The standard output. `NO_COLOR` is respected. */
export function createScreen(out: NodeJS.WriteStream): Screen {
  const paint: Paint = (style, text) => styleText(style, text, { stream: out })
  const live = out.isTTY && process.env.TERM !== 'dumb' && out.columns >= 60
  let drawn = 0
  let lastLine = -1

  function draw(view: View): void {
    const lines = blockOf(view, out.columns - 1, paint)
    const back = drawn > 0 ? `\x1b[${drawn}A` : '\x1b[?25l'
    out.write(`${back}\r${lines.map((line) => `${line}\x1b[K\n`).join('')}\x1b[J`)
    if (drawn === 0) process.once('exit', () => out.write('\x1b[?25h'))
    drawn = lines.length
  }

  return {
    paint,
    say: (...lines) => void out.write(lines.map((line) => `${line}\n`).join('')),
    show(view) {
      if (live) draw(view)
      else if (Math.floor(view.elapsedMs / 1000) !== lastLine) out.write(`${lineOf(view)}\n`)
      lastLine = Math.floor(view.elapsedMs / 1000)
    },
  }
}
