import { colours } from '../parts/colours.ts'
import type { Sheet } from './canvas-layer.ts'

/** A name on the map, in widths of the world. */
export interface Name {
  readonly name: string
  readonly x: number
  readonly y: number
  /** Pixels. */
  readonly size: number
  /** The name is beside a dot; else it is centred on its place. */
  readonly hasDot: boolean
}

/** Draws names if there is room for them, the first ones first. */
export class NameWriter {
  readonly #sheet: Sheet
  readonly #colours = colours()
  readonly #taken: (readonly [left: number, top: number, right: number, bottom: number])[] = []

  constructor(sheet: Sheet) {
    this.#sheet = sheet
    sheet.context.lineJoin = 'round'
    sheet.context.textBaseline = 'middle'
  }

  get isFull(): boolean {
    return this.#taken.length >= MOST_NAMES
  }

  /** Writes a name at its place. */
  write({ name, x, y, size, hasDot }: Name): void {
    const { context, left, top, world } = this.#sheet
    const [px, py] = [x * world - left, y * world - top]
    if (!this.#isInView(px, py)) return
    const width = name.length * size * 0.56
    const from = hasDot ? px : px - width / 2
    if (!this.#take(from - 8, py - 10, from + width + 18, py + 10)) return
    context.textAlign = hasDot ? 'left' : 'center'
    this.#text(name, hasDot ? px + 6 : px, py, size)
    if (!hasDot) return
    context.beginPath()
    context.arc(px, py, 1.75, 0, 2 * Math.PI)
    context.fill()
  }

  /** Writes a name around its place in a direction (radians), unless it is longer than `most` pixels. */
  writeAlong({ name, x, y, size }: Omit<Name, 'hasDot'>, angle: number, most: number): void {
    const { context, left, top, world } = this.#sheet
    const [px, py] = [x * world - left, y * world - top]
    const width = name.length * size * 0.56
    if (width > most || !this.#isInView(px, py)) return
    const [dx, dy] = [(Math.abs(Math.cos(angle)) * width) / 2 + 8, (Math.abs(Math.sin(angle)) * width) / 2 + 8]
    if (!this.#take(px - dx, py - dy, px + dx, py + dy)) return
    context.save()
    context.translate(px, py)
    context.rotate(angle)
    context.textAlign = 'center'
    this.#text(name, 0, 0, size)
    context.restore()
  }

  #text(name: string, x: number, y: number, size: number): void {
    const { context } = this.#sheet
    const { label, halo } = this.#colours
    context.font = `${size > 12 ? 600 : 500} ${size}px Inter, system-ui, sans-serif`
    context.strokeStyle = halo
    context.lineWidth = 3
    context.strokeText(name, x, y)
    context.fillStyle = label
    context.fillText(name, x, y)
  }

  #isInView(x: number, y: number): boolean {
    return x >= 0 && y >= 0 && x <= this.#sheet.width && y <= this.#sheet.height
  }

  #take(left: number, top: number, right: number, bottom: number): boolean {
    const isTaken = this.#taken.some(([x0, y0, x1, y1]) => x0 < right && x1 > left && y0 < bottom && y1 > top)
    if (!isTaken) this.#taken.push([left, top, right, bottom])
    return !isTaken
  }
}

const MOST_NAMES = 60
