import type { DeviceRowJson } from '../../admin/schemas/devices.ts'
import { CONDITIONS, conditionOf, nameOf, toneOf, whereIs } from '../data/van.ts'
import { mercator, type Sheet } from './canvas-layer.ts'
import { type Marker, markersOf, type PlacedVan, type WorldPoint } from './markers.ts'
import { clusterRadius, type Sprite, Sprites } from './sprites.ts'

/** A marker on its way from its old to its new place. */
interface Mover {
  marker: Marker
  /** Undefined until it is drawn next. */
  sprite: Sprite | undefined
  from: WorldPoint
  /** ms of the page's clock. */
  since: number
  /** The point at which it was last drawn, in pixels of the view. */
  px: number
  py: number
}

/** Draws thousands of vans as markers, and finds the one at a point. A marker glides to its next position. */
export class VansOnMap {
  readonly #sprites = new Sprites()
  #placed: readonly PlacedVan[] = []
  /** In the order in which they are drawn. */
  #movers: readonly Mover[] = []
  /** The state for which the markers were made: a zoom, and the van that is in no cluster. */
  #madeFor: { zoom: number; chosen: string | undefined } | undefined
  #changedAt = 0
  /** The state for which the pictures of the markers were made. */
  #drawnFor = ''

  /** Sets the present vans with a position. */
  set(vans: readonly DeviceRowJson[], now: number): void {
    this.#placed = vans.flatMap((van) => {
      const place = whereIs(van)
      return place ? [{ van, tone: toneOf(van), ...mercator(place.lat, place.lon) }] : []
    })
    this.#madeFor = undefined
    this.#changedAt = now
  }

  /** Draws in the present colours from now on. */
  recolour(): void {
    this.#sprites.clear()
    this.#drawnFor = ''
  }

  /** Draws all markers in view. Returns the ms after which the next frame would differ; undefined: none will. */
  draw(sheet: Sheet, now: number, chosen: string | undefined): number | undefined {
    const { context, left, top, world, zoom, width, height, ratio } = sheet
    this.#cluster(Math.floor(zoom * 4) / 4, chosen)
    this.#sprites.scale(ratio)
    const radius = zoom < 6 ? 3 : zoom < 10 ? 4 : 5
    this.#forgetSprites(`${radius} ${ratio}`)
    const shown: Mover[] = []
    let moving = 0
    context.save()
    context.setTransform(1, 0, 0, 1, 0, 0)
    for (const mover of this.#movers) {
      const { x, y } = between(mover, now, world)
      mover.px = x * world - left
      mover.py = y * world - top
      if (mover.px < -20 || mover.py < -20 || mover.px > width + 20 || mover.py > height + 20) continue
      shown.push(mover)
      if (x !== mover.marker.x || y !== mover.marker.y) moving++
      mover.sprite ??= this.#spriteOf(mover.marker, radius)
      const { image, size } = mover.sprite
      // Between pixels of the device, a picture would be blurred and cost five times as much.
      context.drawImage(image, Math.round(mover.px * ratio - size / 2), Math.round(mover.py * ratio - size / 2))
    }
    context.restore()
    const singles = shown.filter(({ marker }) => marker.vans.length === 1)
    if (singles.length <= MOST_NAMES && zoom >= 9) this.#drawNames(context, shown, radius)
    const marked = chosen === undefined ? undefined : shown.find(({ marker }) => marker.key === chosen)
    if (marked) mark(context, marked, radius + 6, this.#sprites.palette.of('accent'))
    return moving === 0 ? undefined : moving > MANY ? MANY_FRAME_MS : 0
  }

  /** The marker nearest to a point of the view, at most `reach` pixels from its edge. */
  at(x: number, y: number, reach = REACH_PX): Marker | undefined {
    let [nearest, best]: [Marker | undefined, number] = [undefined, reach]
    for (const { marker, px, py } of this.#movers) {
      const distance = Math.hypot(px - x, py - y) - (marker.vans.length > 1 ? clusterRadius(marker.vans.length) : 0)
      if (distance < best) [nearest, best] = [marker, distance]
    }
    return nearest
  }

  /** Makes the markers again if vans, zoom or choice have changed. Earlier markers glide to their new place. */
  #cluster(zoom: number, chosen: string | undefined): void {
    const before = this.#madeFor
    if (before?.zoom === zoom && before.chosen === chosen) return
    const known = new Map(this.#movers.map((mover) => [mover.marker.key, mover]))
    const movers = markersOf(this.#placed, zoom, chosen).map((marker) => {
      const mover = known.get(marker.key)
      if (!mover) return { marker, sprite: undefined, from: marker, since: 0, px: 0, py: 0 }
      const isElsewhere = marker.x !== mover.marker.x || marker.y !== mover.marker.y
      // At another zoom, clusters contain other vans, and none of them has moved.
      const isJump = isElsewhere && before !== undefined
      if (isJump) Object.assign(mover, { from: marker, since: 0 })
      else if (isElsewhere) Object.assign(mover, { from: between(mover, this.#changedAt), since: this.#changedAt })
      return Object.assign(mover, { marker, sprite: undefined })
    })
    this.#movers = movers.toSorted((one, other) => rankOf(one) - rankOf(other))
    this.#madeFor = { zoom, chosen }
  }

  /** Looks for all pictures anew if they are of another size or colour. */
  #forgetSprites(madeFor: string): void {
    if (madeFor === this.#drawnFor) return
    this.#drawnFor = madeFor
    for (const mover of this.#movers) mover.sprite = undefined
  }

  #spriteOf({ vans, tone }: Marker, radius: number): Sprite {
    if (vans.length > 1) return this.#sprites.cluster(tone, vans.length)
    return this.#sprites.van(
      tone,
      radius,
      conditionOf(vans[0].van) === 'moving' && radius >= 4 ? vans[0].van.position?.heading : undefined,
    )
  }

  #drawNames(context: CanvasRenderingContext2D, movers: readonly Mover[], radius: number): void {
    const { text, halo } = this.#sprites.palette
    context.font = '600 11px Inter, system-ui, sans-serif'
    context.textBaseline = 'middle'
    const taken: (readonly [x: number, y: number, right: number])[] = []
    const hides = (x: number, y: number, right: number) =>
      movers.some(({ marker, px, py }) => {
        const reach = marker.vans.length > 1 ? clusterRadius(marker.vans.length) : radius
        return Math.abs(y - py) < 7 + reach && px > x && px - reach < right
      })
    for (const { marker, px, py } of movers) {
      if (marker.vans.length > 1) continue
      const name = nameOf(marker.vans[0].van).slice(0, 24)
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
}

/** Where a marker is; at its end already if it is less than half a pixel of the view from it. */
function between({ marker, from, since }: Mover, now: number, world = Infinity): WorldPoint {
  const part = Math.min(1, Math.max(0, (now - since) / GLIDE_MS))
  if (part === 1) return marker
  const left = (1 - part) ** 3
  const [dx, dy] = [(from.x - marker.x) * left, (from.y - marker.y) * left]
  return Math.abs(dx) * world < 0.5 && Math.abs(dy) * world < 0.5 ? marker : { x: marker.x + dx, y: marker.y + dy }
}

/** Clusters last, and among the vans those first that are shown first in lists: they are the last to be covered. */
function rankOf({ marker: { vans } }: Mover): number {
  return vans.length > 1 ? CONDITIONS.length : CONDITIONS.toReversed().indexOf(conditionOf(vans[0].van))
}

function mark(context: CanvasRenderingContext2D, { px, py }: Mover, radius: number, colour: string): void {
  context.beginPath()
  context.arc(px, py, radius, 0, 2 * Math.PI)
  context.strokeStyle = colour
  context.lineWidth = 2
  context.stroke()
}

const GLIDE_MS = 900
/** So many moving markers are drawn 30 times a second, fewer 60 times. */
const MANY = 1500
const MANY_FRAME_MS = 33
const MOST_NAMES = 80
const REACH_PX = 14
