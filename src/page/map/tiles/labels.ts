import type { VectorTileFeature } from '@mapbox/vector-tile'
import { language } from '../../words/index.ts'
import type { Name } from '../names.ts'
import type { TilePlace } from './source.ts'
import { kindOf, type Tags } from './style.ts'

/** A name of a place; the most important ones have the smallest `rank`. */
export interface PlaceName extends Name {
  readonly rank: number
  /** The zoom from which on it is shown. */
  readonly from: number
}

/** A name along a street, at its middle, in widths of the world. */
export interface StreetName {
  readonly name: string
  readonly x: number
  readonly y: number
  /** Radians. */
  readonly angle: number
  /** Widths of the world along which the street is about straight. */
  readonly length: number
}

export interface TileNames {
  readonly places: PlaceName[]
  readonly streets: StreetName[]
}

/** Adds the names of one object of a tile. */
export function namesIn(names: TileNames, layer: string, feature: VectorTileFeature, place: TilePlace): void {
  const { properties: tags } = feature
  if (PLACE_LAYERS.has(layer) && feature.type === 1) {
    const style = PLACES[kindOf(tags)] ?? PLACES[String(tags.kind)]
    const name = nameOf(tags)
    const [[point] = []] = feature.loadGeometry()
    if (!style || !name || !point) return
    const { x, y } = inWorld(point, feature.extent, place)
    names.places.push({ name, x, y, ...style, rank: style.rank + orderOf(tags) })
  } else if (STREET_LAYERS.has(layer) && feature.type === 2) {
    const name = nameOf(tags) || String(tags.ref ?? '')
    if (!name) return
    const longest = straightest(feature, place)
    const known = names.streets.findIndex((street) => street.name === name)
    if (known < 0) names.streets.push({ name, ...longest })
    else if (names.streets[known].length < longest.length) names.streets[known] = { name, ...longest }
  }
}

/** Returns the name in the language of the page, if the tile has it. */
function nameOf(tags: Tags): string {
  return String(tags[`name:${language}`] ?? tags[`name_${language}`] ?? tags.name ?? '')
}

/** Less than 1: the fewer people, or the higher the rank that the tile gives, the more. */
function orderOf({ population, rank, population_rank }: Tags): number {
  if (typeof population === 'number') return 1 - Math.log10(Math.max(1, population)) / 10
  if (typeof population_rank === 'number') return 1 - population_rank / 20
  return typeof rank === 'number' ? Math.min(0.99, rank / 30) : 0.5
}

/** The longest part of a line that is about straight. */
function straightest(feature: VectorTileFeature, place: TilePlace): Omit<StreetName, 'name'> {
  let best = { x: 0, y: 0, angle: 0, length: 0 }
  for (const line of feature.loadGeometry()) {
    const points = line.map((point) => inWorld(point, feature.extent, place))
    let from = 0
    for (let to = 1; to < points.length; to++) {
      while (to - from > 1 && turn(points[from], points[from + 1], points[to - 1], points[to]) > MOST_TURN) from++
      const [dx, dy] = [points[to].x - points[from].x, points[to].y - points[from].y]
      const length = Math.hypot(dx, dy)
      if (length <= best.length) continue
      const [x, y] = [points[from].x + dx / 2, points[from].y + dy / 2]
      // Never upside down.
      best = { x, y, angle: Math.atan(dy / (dx || Number.MIN_VALUE)), length }
    }
  }
  return best
}

interface Point {
  readonly x: number
  readonly y: number
}

/** The radians between the directions of two steps. */
function turn(a: Point, b: Point, c: Point, d: Point): number {
  const angle = Math.atan2(d.y - c.y, d.x - c.x) - Math.atan2(b.y - a.y, b.x - a.x)
  return Math.abs(Math.atan2(Math.sin(angle), Math.cos(angle)))
}

function inWorld({ x, y }: Point, extent: number, place: TilePlace): Point {
  const tiles = 2 ** place.z
  return { x: (place.x + x / extent) / tiles, y: (place.y + y / extent) / tiles }
}

const MOST_TURN = 0.3
const PLACE_LAYERS = new Set(['place', 'places', 'place_labels'])
const STREET_LAYERS = new Set(['transportation_name', 'roads', 'street_labels'])

type PlaceStyle = Pick<PlaceName, 'size' | 'rank' | 'from' | 'hasDot'>

const CITY: PlaceStyle = { size: 13, rank: 1, from: 3, hasDot: true }
const TOWN: PlaceStyle = { size: 12, rank: 2, from: 7, hasDot: true }
const VILLAGE: PlaceStyle = { size: 11, rank: 3, from: 9, hasDot: true }
const QUARTER: PlaceStyle = { size: 11, rank: 4, from: 12, hasDot: false }
const PLACES: Readonly<Record<string, PlaceStyle | undefined>> = {
  city: CITY,
  capital: CITY,
  state_capital: CITY,
  town: TOWN,
  village: VILLAGE,
  locality: VILLAGE,
  hamlet: { ...VILLAGE, from: 12, rank: 3.5 },
  suburb: QUARTER,
  quarter: QUARTER,
  macrohood: QUARTER,
  neighbourhood: { ...QUARTER, from: 14, rank: 5 },
}
