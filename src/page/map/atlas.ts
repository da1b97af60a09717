import { readAsset } from '../data/assets.ts'
import { mercator } from './canvas-layer.ts'

/** A line in widths of the world: x, y, x, y, … */
export interface Outline {
  readonly points: Float64Array
  /** The covered area: left, top, right, bottom. */
  readonly box: Float64Array
  /** The covered area of each piece of `PIECE` steps, one after the other. */
  readonly pieces: Float64Array
}

export interface Town {
  readonly name: string
  readonly x: number
  readonly y: number
  /** Thousands. */
  readonly people: number
}

/** Coasts, lakes included, and borders. */
interface Countries {
  readonly land: readonly Outline[]
  readonly borders: readonly Outline[]
}

interface Waters {
  readonly lakes: readonly Outline[]
  readonly rivers: readonly { readonly zoom: number; readonly lines: readonly Outline[] }[]
}

interface Towns {
  /** Those with the most people first. */
  readonly towns: readonly Town[]
  /** Number of cells of villages in a row and in a column of the world. */
  readonly cells: number
  /** The cells that have villages. */
  readonly villages: ReadonlySet<string>
}

/** The map that is built into the page. Each part is loaded on first use, once for all maps. */
export class Atlas {
  readonly #loaded: () => void

  /** @param loaded called when a part that was asked for is there */
  constructor(loaded: () => void) {
    this.#loaded = loaded
  }

  /** `isNear`: in more detail. Until that is loaded, in less. */
  countries(isNear: boolean): Countries | undefined {
    const near = isNear ? this.#part('outlines-near', countriesOf) : undefined
    return near ?? this.#part('outlines', countriesOf)
  }

  waters(): Waters | undefined {
    return this.#part('waters', watersOf)
  }

  towns(): Towns | undefined {
    return this.#part('places', townsOf)
  }

  /** The villages of each cell within a box of the world, those with the most people first. */
  villages(left: number, top: number, right: number, bottom: number): (readonly Town[])[] {
    const { cells, villages } = this.towns() ?? { cells: 0, villages: new Set() }
    const found: (readonly Town[])[] = []
    for (let y = Math.floor(top * cells); y <= bottom * cells; y++)
      for (let x = Math.floor(left * cells); x <= right * cells; x++)
        if (villages.has(`${x}-${y}`)) found.push(this.#part(`villages/${x}-${y}`, placesIn) ?? [])
    return found
  }

  #part<Part>(name: string, unpack: (file: never) => Part): Part | undefined {
    const known = parts.get(name)
    if (known) return known as Part
    const loading = loads.get(name) ?? load(name, unpack)
    loads.set(name, loading.add(this.#loaded))
    return undefined
  }
}

const parts = new Map<string, unknown>()
/** Callbacks that wait for a part. */
const loads = new Map<string, Set<() => void>>()

/** Loads a part. What cannot be loaded is asked for again by the next map that is drawn. */
function load(name: string, unpack: (file: never) => unknown): Set<() => void> {
  const waiting = new Set<() => void>()
  const done = async () => {
    try {
      parts.set(name, unpack(await readAsset<never>(`${name}.json`)))
    } catch {
      waiting.clear()
    }
    loads.delete(name)
    for (const loaded of waiting) loaded()
  }
  void done()
  return waiting
}

type Packed = readonly number[]

interface OutlinesFile {
  readonly world: number
  readonly land: readonly Packed[]
  readonly borders: readonly Packed[]
}

interface WatersFile {
  readonly world: number
  readonly lakes: readonly Packed[]
  readonly rivers: readonly { readonly zoom: number; readonly lines: readonly Packed[] }[]
}

type PlacesFile = Readonly<Record<'lat' | 'lon' | 'population', readonly number[]>> & {
  readonly names: readonly string[]
}

function countriesOf({ world, land, borders }: OutlinesFile): Countries {
  return { land: unpackedAll(land, world), borders: unpackedAll(borders, world) }
}

function watersOf({ world, lakes, rivers }: WatersFile): Waters {
  return {
    lakes: unpackedAll(lakes, world),
    rivers: rivers.map(({ zoom, lines }) => ({ zoom, lines: unpackedAll(lines, world) })),
  }
}

function townsOf(file: PlacesFile & { readonly cells: number; readonly villages: readonly string[] }): Towns {
  return { towns: placesIn(file), cells: file.cells, villages: new Set(file.villages) }
}

function placesIn({ names, lat, lon, population }: PlacesFile): readonly Town[] {
  return names.map((name, i) => ({ name, ...mercator(lat[i] / 1000, lon[i] / 1000), people: population[i] }))
}

function unpackedAll(lines: readonly Packed[], world: number): readonly Outline[] {
  return lines.map((steps) => unpacked(steps, world))
}

function unpacked(steps: Packed, world: number): Outline {
  const points = new Float64Array(steps.length)
  const pieces = new Float64Array(4 * Math.ceil(steps.length / (2 * PIECE))).fill(-1)
  let [x, y] = [0, 0]
  for (let i = 0; i < steps.length; i += 2) {
    x += steps[i] / world
    y += steps[i + 1] / world
    points[i] = x
    points[i + 1] = y
    const step = i / 2
    const piece = 4 * Math.floor(step / PIECE)
    const isFirst = step % PIECE === 0
    if (isFirst) pieces.set([x, y, x, y], piece)
    widen(pieces, piece, x, y)
    // The previous piece ends where this one begins.
    if (isFirst && piece > 0) widen(pieces, piece - 4, x, y)
  }
  const box = pieces.slice(0, 4)
  for (let piece = 4; piece < pieces.length; piece += 4) {
    widen(box, 0, pieces[piece], pieces[piece + 1])
    widen(box, 0, pieces[piece + 2], pieces[piece + 3])
  }
  return { points, box, pieces }
}

function widen(boxes: Float64Array, at: number, x: number, y: number): void {
  boxes[at] = Math.min(boxes[at], x)
  boxes[at + 1] = Math.min(boxes[at + 1], y)
  boxes[at + 2] = Math.max(boxes[at + 2], x)
  boxes[at + 3] = Math.max(boxes[at + 3], y)
}

export const PIECE = 32
