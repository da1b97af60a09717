import { type Coords, type DoneCallback, GridLayer } from 'leaflet'
import { colours } from '../../parts/colours.ts'
import type { Sheet } from '../canvas-layer.ts'
import { NameWriter } from '../names.ts'
import type { PlaceName, StreetName } from './labels.ts'
import type { TilePlace, TileSource } from './source.ts'
import { AREAS, LINES, widthAt } from './style.ts'
import { readTile, type Tile, UNITS } from './tile.ts'

/** A tile, or the one around it in which it is a part. */
interface FoundTile {
  readonly tile: Tile
  readonly place: TilePlace
}

/** A Leaflet layer that draws vector tiles in the page's own colours, and pictures unchanged. */
export class VectorLayer extends GridLayer {
  readonly #source: TileSource
  readonly #absent: () => void
  readonly #changed: () => void
  /** The newest last. */
  readonly #known = new Map<string, Promise<Tile | undefined>>()
  /** The tiles on the map, by their own places. */
  readonly #shown = new Map<string, FoundTile>()

  /** @param absent called when there is no tile for a place @param changed called when other names are to be drawn */
  constructor(source: TileSource, { absent, changed }: { readonly absent: () => void; readonly changed: () => void }) {
    super({ tileSize: SIZE, noWrap: true })
    this.#source = source
    this.#absent = absent
    this.#changed = changed
    this.on('tileunload', ({ coords }: { coords: Coords }) => {
      this.#shown.delete(keyOf(placeOf(coords)))
      changed()
    })
  }

  override createTile(coords: Coords, done: DoneCallback): HTMLElement {
    const canvas = document.createElement('canvas')
    const ratio = devicePixelRatio || 1
    canvas.width = SIZE * ratio
    canvas.height = SIZE * ratio
    void this.#fill(canvas, coords, done)
    return canvas
  }

  /** Draws the names of the tiles in view. */
  drawNames(sheet: Sheet): undefined {
    const { zoom, world } = sheet
    const tileZoom = Math.round(zoom) - 1
    const places: PlaceName[] = []
    const streets: StreetName[] = []
    const drawn = new Set<Tile>()
    for (const [key, { tile }] of this.#shown) {
      if (!key.startsWith(`${tileZoom}/`) || !('names' in tile) || drawn.has(tile)) continue
      drawn.add(tile)
      places.push(...tile.names.places.filter(({ from }) => zoom >= from))
      if (zoom >= STREETS_ZOOM) streets.push(...tile.names.streets)
    }
    const writer = new NameWriter(sheet)
    for (const place of places.toSorted((one, other) => one.rank - other.rank)) {
      if (writer.isFull) return
      writer.write(place)
    }
    for (const street of streets.toSorted((one, other) => other.length - one.length)) {
      if (writer.isFull) return
      writer.writeAlong({ ...street, size: 11 }, street.angle, street.length * world)
    }
  }

  async #fill(canvas: HTMLCanvasElement, coords: Coords, done: DoneCallback): Promise<void> {
    try {
      await this.#draw(canvas, coords)
    } catch (error) {
      return done(error as Error, canvas)
    }
    done(undefined, canvas)
  }

  async #draw(canvas: HTMLCanvasElement, coords: Coords): Promise<void> {
    const place = placeOf(coords)
    const found = await this.#find(place)
    if (!found) return this.#absent()
    this.#shown.set(keyOf(place), found)
    drawTile(canvas.getContext('2d')!, found, place)
    this.#changed()
  }

  /** Resolves to the tile of a place; if the source has no tile at this zoom, to the nearest one around it. */
  async #find(place: TilePlace): Promise<FoundTile | undefined> {
    const most = await this.#source.maxZoom()
    const from = most === undefined ? 0 : Math.max(0, place.z - most)
    const last = most === undefined ? Math.min(place.z, MOST_STEPS) : from
    for (let step = from; step <= last; step++) {
      const around = { z: place.z - step, x: place.x >> step, y: place.y >> step }
      const tile = await this.#tile(around)
      if (tile) return { tile, place: around }
    }
    return undefined
  }

  #tile(place: TilePlace): Promise<Tile | undefined> {
    const key = keyOf(place)
    const known = this.#known.get(key) ?? this.#load(place)
    this.#known.delete(key)
    this.#known.set(key, known)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_TILES) this.#known.delete(oldest)
    // The next caller asks again.
    known.catch(() => this.#known.delete(key))
    return known
  }

  async #load(place: TilePlace): Promise<Tile | undefined> {
    const bytes = await this.#source.tile(place.z, place.x, place.y)
    return bytes && readTile(bytes, place)
  }
}

function drawTile(context: CanvasRenderingContext2D, { tile, place: around }: FoundTile, place: TilePlace): void {
  const steps = 2 ** (place.z - around.z)
  const side = context.canvas.width
  const [left, top] = [(place.x % steps) * side, (place.y % steps) * side]
  if ('image' in tile) {
    context.drawImage(tile.image, -left, -top, side * steps, side * steps)
    return
  }
  const palette = colours()
  context.fillStyle = palette.land
  context.fillRect(0, 0, side, side)
  const scale = (side * steps) / UNITS
  context.setTransform(scale, 0, 0, scale, -left, -top)
  for (const [name, colour] of Object.entries(AREAS)) {
    const path = tile.paths.get(name as keyof typeof AREAS)
    if (!path || (name === 'building' && place.z < BUILDINGS_ZOOM)) continue
    context.fillStyle = palette[colour]
    context.fill(path)
  }
  context.lineJoin = 'round'
  const zoom = place.z + 1
  const unit = UNITS / (SIZE * steps)
  const lines = Object.entries(LINES) as [keyof typeof LINES, (typeof LINES)[keyof typeof LINES]][]
  const stroke = (name: keyof typeof LINES, colour: string, width: number, dash: readonly number[] = []) => {
    const path = tile.paths.get(name)
    if (!path) return
    context.lineCap = dash.length > 0 ? 'butt' : 'round'
    context.setLineDash(dash.map((part) => part * unit))
    context.strokeStyle = colour
    context.lineWidth = width * unit
    context.stroke(path)
  }
  for (const [name, style] of lines) {
    const width = widthAt(name, zoom)
    if (width > 1 && 'edge' in style) stroke(name, palette[style.edge], width + 1.5)
  }
  for (const [name, style] of lines) {
    const width = widthAt(name, zoom)
    if (width > 0) stroke(name, palette[style.colour], width, 'dash' in style ? style.dash : [])
  }
}

/** Returns the tile of a place on the map: a tile of Leaflet is as large as four of its own. */
function placeOf({ x, y, z }: Coords): TilePlace {
  return { z: z - 1, x, y }
}

function keyOf({ z, x, y }: TilePlace): string {
  return `${z}/${x}/${y}`
}

/** Pixels. */
const SIZE = 512
/** If a server does not report its zooms, a tile is shown up to this many zooms away from its own. */
const MOST_STEPS = 4
const MOST_TILES = 128
const BUILDINGS_ZOOM = 14
const STREETS_ZOOM = 14
