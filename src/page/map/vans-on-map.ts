import type { DeviceRowJson } from '../../admin/schemas/devices.ts'
import { CONDITIONS, type Condition, conditionOf, nameOf, whereIs } from '../data/van.ts'
import { colours } from '../parts/colours.ts'
import { mercator, type Sheet } from './canvas-layer.ts'

/** A van on its way from where it was to where it is, in widths of the world. */
interface Mover {
  van: DeviceRowJson
  condition: Condition
  from: { x: number; y: number }
  to: { x: number; y: number }
  /** ms of the page's clock. */
  since: number
  /** The point at which it was last drawn, in pixels of the view. */
  px: number
  py: number
}

/** Draws thousands of vans, and finds the one at a point. A van glides to its next position. */
export class VansOnMap {
  readonly #movers = new Map<string, Mover>()

  /** The vans with a position, as they are now. */
  set(vans: readonly DeviceRowJson[], now: number): void {
    const seen = new Set<string>()
    for (const van of vans) {
      const place = whereIs(van)
      if (!place) continue
      seen.add(van.id)
      const to = mercator(place.lat, place.lon)
      const condition = conditionOf(van)
      const mover = this.#movers.get(van.id)
      if (!mover) this.#movers.set(van.id, { van, condition, from: to, to, since: 0, px: 0, py: 0 })
      else {
        const isElsewhere = to.x !== mover.to.x || to.y !== mover.to.y
        if (isElsewhere) Object.assign(mover, { from: between(mover, now), to, since: now })
        Object.assign(mover, { van, condition })
      }
    }
    for (const id of this.#movers.keys()) if (!seen.has(id)) this.#movers.delete(id)
  }

  /** Returns whether one is still on its way. */
  draw(sheet: Sheet, now: number, chosen: string | undefined): boolean {
    const { context, left, top, world, zoom, width, height } = sheet
    const { of, surface } = colours()
    const radius = zoom < 6 ? 3 : zoom < 10 ? 4 : 5
    const visible = new Map<Condition, Mover[]>(CONDITIONS.toReversed().map((condition) => [condition, []]))
    let isMoving = false
    for (const mover of this.#movers.values()) {
      const { x, y } = between(mover, now)
      if (now - mover.since < GLIDE_MS) isMoving = true
      mover.px = x * world - left
      mover.py = y * world - top
      if (mover.px < -8 || mover.py < -8 || mover.px > width + 8 || mover.py > height + 8) continue
      visible.get(mover.condition)?.push(mover)
    }
    context.lineWidth = 1.5
    context.strokeStyle = surface
    for (const [condition, movers] of visible) {
      if (movers.length === 0) continue
      context.beginPath()
      for (const mover of movers) addShape(context, mover, radius)
      context.fillStyle = of(`c-${condition}`)
      context.stroke()
      context.fill()
    }
    const shown = [...visible.values()].flat()
    if (shown.length <= MOST_NAMES && zoom >= 9) drawNames(context, shown, radius)
    const marked = chosen === undefined ? undefined : this.#movers.get(chosen)
    if (marked) mark(context, marked, radius, of('accent'))
    return isMoving
  }

  /** The van nearest to a point of the view, at most 14 pixels from it. */
  at(x: number, y: number): DeviceRowJson | undefined {
    let [nearest, best]: [DeviceRowJson | undefined, number] = [undefined, REACH_PX ** 2]
    for (const { van, px, py } of this.#movers.values()) {
      const distance = (px - x) ** 2 + (py - y) ** 2
      if (distance < best) [nearest, best] = [van, distance]
    }
    return nearest
  }
}

function between({ from, to, since }: Mover, now: number): { x: number; y: number } {
  const part = Math.min(1, Math.max(0, (now - since) / GLIDE_MS))
  if (part === 1) return to
  const eased = 1 - (1 - part) ** 3
  return { x: from.x + (to.x - from.x) * eased, y: from.y + (to.y - from.y) * eased }
}

/** A drop that points where the van drives; a dot where it stands. */
function addShape(context: CanvasRenderingContext2D, { van, condition, px, py }: Mover, radius: number): void {
  const heading = van.position?.heading
  if (condition !== 'moving' || heading === undefined || radius < 4) {
    context.moveTo(px + radius, py)
    context.arc(px, py, radius, 0, 2 * Math.PI)
    return
  }
  const angle = ((heading - 90) * Math.PI) / 180
  const tip = radius * 1.9
  const [tx, ty] = [px + Math.cos(angle) * tip, py + Math.sin(angle) * tip]
  context.moveTo(tx, ty)
  context.arc(px, py, radius, angle + 0.9, angle + 2 * Math.PI - 0.9)
  context.closePath()
}

function drawNames(context: CanvasRenderingContext2D, movers: readonly Mover[], radius: number): void {
  const { text, halo } = colours()
  context.font = '600 11px Inter, system-ui, sans-serif'
  context.textBaseline = 'middle'
  const taken: (readonly [x: number, y: number, right: number])[] = []
  const hides = (x: number, y: number, right: number) =>
    movers.some(({ px, py }) => Math.abs(y - py) < 7 + radius && px > x && px < right + radius)
  for (const { van, px, py } of movers) {
    const name = nameOf(van).slice(0, 24)
    const right = px + radius + 6 + name.length * 6.4
    if (taken.some(([x, y, end]) => Math.abs(y - py) < 14 && x < right && end > px) || hides(px, py, right)) continue
    taken.push([px, py, right])
    // Names of places below a name would make both unreadable.
    context.fillStyle = halo
    context.fillRect(px + radius + 3, py - 7, context.measureText(name).width + 6, 14)
    context.fillStyle = text
    context.fillText(name, px + radius + 6, py)
  }
}

function mark(context: CanvasRenderingContext2D, { px, py }: Mover, radius: number, colour: string): void {
  context.beginPath()
  context.arc(px, py, radius + 6, 0, 2 * Math.PI)
  context.strokeStyle = colour
  context.lineWidth = 2
  context.stroke()
}

const GLIDE_MS = 900
const MOST_NAMES = 80
const REACH_PX = 14
