import { styleText } from 'node:util'
import type { Progress } from '../simulation.ts'
import type { Status } from './account.ts'

/** The content of the screen at one moment. */
export interface View {
  readonly phase: 'driving' | 'delivering' | 'reading back'
  readonly elapsedMs: number
  readonly drivingMs: number
  /** `teltonika 8`, `gt06 4` … */
  readonly fleet: readonly string[]
  /** Fixes that the vans make in the whole demo. */
  readonly expected: number
  readonly progress: Progress
  /** undefined while the admin port does not answer. */
  readonly status?: Status
  /** Fixes delivered in each second so far, and waiting at its end. */
  readonly history: readonly Second[]
}

export interface Second {
  readonly delivered: number
  readonly waiting: number
}

/** Colours a text, or returns it unchanged. */
export type PaintText = (style: 'bold' | 'dim' | 'green' | 'cyan' | 'yellow' | 'magenta', text: string) => string

/** One line of plain text. */
export function lineOf({ phase, elapsedMs, progress, status, history }: View): string {
  const { vans, sent, acked } = progress
  const counts = `${vans} vans, ${sent} fixes sent, ${acked} acknowledged`
  const rest = status ? `${status.delivered} delivered, ${status.waiting} waiting` : 'no answer from the admin port'
  return `${seconds(elapsedMs)} s  ${phase}: ${counts}, ${rest}, ${rateOf(history)}/s${troubleOf(progress)}`
}

/** Returns a block of lines, none wider than `width` (at least 60). */
export function blockOf(view: View, width: number, paint: PaintText): string[] {
  const { progress, status, history, expected, fleet } = view
  const room = Math.min(width, MAX_WIDTH) - LEFT
  const bar = (value: number | undefined, style: Parameters<PaintText>[0]) =>
    barOf((value ?? 0) / expected, { room, style, paint })
  const sparksOf = (name: keyof Second) =>
    sparks(
      Array.from(history, (second) => second[name]),
      room,
    )
  const trouble = troubleOf(progress)
  return [
    headOf(view, LEFT + room, paint),
    '',
    ...fleetRows(progress.vans, inColumns(fleet, room), paint),
    row('fixes sent', progress.sent, bar(progress.sent, 'cyan'), paint),
    row('acknowledged', progress.acked, bar(progress.acked, 'magenta'), paint),
    row('delivered', status?.delivered, bar(status?.delivered, 'green'), paint),
    row('waiting', status?.waiting, paint('yellow', sparksOf('waiting')), paint),
    row('rate', `${rateOf(history)}/s`, paint('green', sparksOf('delivered')), paint),
    ...(trouble ? ['', paint('yellow', clip(`  ${trouble.slice(2)}`, LEFT + room))] : []),
  ]
}

function headOf({ phase, elapsedMs, drivingMs }: View, width: number, paint: PaintText): string {
  const clock = phase === 'driving' ? `${seconds(elapsedMs)} of ${seconds(drivingMs)} s` : `${seconds(elapsedMs)} s`
  const right = `${phase} · ${clock}`
  const title = '  waybridge demo'
  return paint('bold', title) + paint('dim', right.padStart(width - title.length))
}

function fleetRows(vans: number, lines: readonly string[], paint: PaintText): string[] {
  return lines.map((line, index) => row(index === 0 ? 'vans' : '', index === 0 ? vans : '', paint('dim', line), paint))
}

function row(label: string, value: number | string | undefined, picture: string, paint: PaintText): string {
  return `  ${label.padEnd(13)}${paint('bold', String(value ?? '–').padStart(8))}   ${picture}`
}

function barOf(
  share: number,
  { room, style, paint }: { room: number; style: Parameters<PaintText>[0]; paint: PaintText },
): string {
  const filled = Math.round(Math.min(1, share) * room)
  return paint(style, '━'.repeat(filled)) + paint('dim', '─'.repeat(room - filled))
}

/** A bar for each of the latest values, relative to the highest. */
function sparks(values: readonly number[], room: number): string {
  const shown = values.slice(-room)
  const highest = Math.max(1, ...shown)
  return shown.map((value) => SPARKS[Math.ceil((value / highest) * (SPARKS.length - 1))]).join('')
}

/** Fixes a second, over the last five whole seconds. */
function rateOf(history: readonly Second[]): string {
  const last = history.slice(-5)
  return (last.reduce((sum, { delivered }) => sum + delivered, 0) / Math.max(1, last.length)).toFixed(1)
}

function troubleOf({ troubled, trouble }: Progress): string {
  return trouble === undefined ? '' : `, ${troubled} ${troubled === 1 ? 'van' : 'vans'} without an answer: ${trouble}`
}

function seconds(ms: number): string {
  return String(Math.floor(ms / 1000))
}

/** Items in columns of equal width, as many beside each other as fit. */
function inColumns(items: readonly string[], room: number): string[] {
  const width = Math.max(0, ...items.map(({ length }) => length)) + GAP
  const count = Math.max(1, Math.floor((room + GAP) / width))
  return Array.from({ length: Math.ceil(items.length / count) }, (_, line) => {
    const cells = items.slice(line * count, (line + 1) * count)
    return cells
      .map((item) => item.padEnd(width))
      .join('')
      .trimEnd()
  })
}

function clip(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, room - 1)}…`
}

const SPARKS = ' ▁▂▃▄▅▆▇█'
/** Column at which the bars begin. */
const LEFT = 26
const MAX_WIDTH = 118
/** Between the columns of the vans. */
const GAP = 2

/** The terminal, or another standard output. */
export interface Screen {
  /** Lines that stay. */
  say(...lines: string[]): void
  /** Shows the state: a block that is redrawn; without a terminal, one line a second. */
  show(view: View): void
  readonly paint: PaintText
}

/** A screen on the standard output; it respects `NO_COLOR`. */
export function createScreen(out: NodeJS.WriteStream): Screen {
  const paint: PaintText = (style, text) => styleText(style, text, { stream: out })
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
