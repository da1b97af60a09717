import type { colours } from '../../parts/colours.ts'

/** How an object of a vector tile is drawn. */
export type Drawn = keyof typeof AREAS | keyof typeof LINES

/** The tags of an object. */
export type Tags = Readonly<Record<string, string | number | boolean>>

type Colour = keyof ReturnType<typeof colours>

/** Areas, in the order in which they are drawn. */
export const AREAS = {
  urban: 'urban',
  green: 'green',
  water: 'water',
  building: 'building',
} as const satisfies Record<string, Colour>

interface LineStyle {
  readonly colour: Colour
  /** The colour of its edges, which are drawn first. */
  readonly edge?: Colour
  /** The zoom from which on it is drawn. */
  readonly from: number
  /** Pixels at the zooms 12 and 18. */
  readonly width: readonly [number, number]
  readonly dash?: readonly number[]
}

/** Lines, in the order in which they are drawn. */
export const LINES = {
  stream: { colour: 'coast', from: 8, width: [1, 4] },
  path: { colour: 'roadEdge', from: 14, width: [0.5, 1.5], dash: [3, 3] },
  rail: { colour: 'rail', from: 9, width: [0.8, 2] },
  service: { colour: 'road', edge: 'roadEdge', from: 14, width: [0.5, 6] },
  minor: { colour: 'road', edge: 'roadEdge', from: 12, width: [1, 12] },
  tertiary: { colour: 'road', edge: 'roadEdge', from: 10, width: [1.6, 14] },
  secondary: { colour: 'road', edge: 'roadEdge', from: 9, width: [2, 15] },
  primary: { colour: 'major', edge: 'majorEdge', from: 7, width: [2.6, 18] },
  motorway: { colour: 'major', edge: 'majorEdge', from: 5, width: [3.4, 22] },
  region: { colour: 'frontier', from: 4, width: [0.75, 1], dash: [2, 3] },
  country: { colour: 'frontier', from: 0, width: [1.25, 2], dash: [4, 3] },
} as const satisfies Record<string, LineStyle>

/** Pixels that a line is wide at a zoom; 0: it is not drawn. */
export function widthAt(line: keyof typeof LINES, zoom: number): number {
  const { from, width }: LineStyle = LINES[line]
  if (zoom < from) return 0
  return Math.max(0.75, width[0] * (width[1] / width[0]) ** ((zoom - 12) / 6))
}

/**
 * Returns how an object is drawn, by its layer and tags in the three schemas of OpenStreetMap tiles: OpenMapTiles, Protomaps
 * and Shortbread. Undefined: it is not drawn.
 */
export function drawnAs(layer: string, tags: Tags): Drawn | undefined {
  const kind = kindOf(tags)
  switch (layer) {
    case 'water':
    case 'ocean':
    case 'water_polygons':
      return STREAMS.has(kind) ? 'stream' : 'water'
    case 'waterway':
    case 'water_lines':
      return 'stream'
    case 'landcover':
    case 'landuse':
    case 'land':
    case 'park':
    case 'sites':
      return layer === 'park' || GREEN.has(kind) ? 'green' : URBAN.has(kind) ? 'urban' : undefined
    case 'building':
    case 'buildings':
      return 'building'
    case 'roads':
    case 'transportation':
    case 'streets':
      return ROADS[kind] ?? ROADS[String(tags.kind)]
    case 'boundary':
    case 'boundaries':
      return isTrue(tags.maritime) ? undefined : borderOf(tags)
    default:
      return undefined
  }
}

/** Returns the most exact word for the kind of an object, without the suffix for a link road. */
export function kindOf(tags: Tags): string {
  const kind = tags.kind_detail ?? tags.class ?? tags.kind ?? tags['pmap:kind'] ?? tags.subclass ?? ''
  return String(kind).replace(/_(link|construction)$/, '')
}

function borderOf(tags: Tags): 'country' | 'region' | undefined {
  const level = Number(tags.admin_level ?? tags.kind_detail ?? (tags.kind === 'country' ? 2 : 4))
  return level <= 2 ? 'country' : level <= 4 ? 'region' : undefined
}

function isTrue(tag: Tags[string] | undefined): boolean {
  return tag === true || tag === 1
}

const STREAMS = new Set(['river', 'stream', 'canal', 'drain', 'ditch'])
const GREEN = new Set(
  'wood forest grass grassland meadow park scrub heath garden cemetery golf_course nature_reserve national_park protected_area recreation_ground village_green orchard vineyard allotments wetland pitch farmland farm'.split(
    ' ',
  ),
)
const URBAN = new Set(
  'residential urban_area commercial industrial retail suburb neighbourhood garages railway'.split(' '),
)
const ROADS: Readonly<Record<string, keyof typeof LINES | undefined>> = {
  motorway: 'motorway',
  highway: 'motorway',
  trunk: 'primary',
  primary: 'primary',
  major_road: 'primary',
  secondary: 'secondary',
  tertiary: 'tertiary',
  medium_road: 'tertiary',
  minor: 'minor',
  minor_road: 'minor',
  residential: 'minor',
  unclassified: 'minor',
  living_street: 'minor',
  road: 'minor',
  service: 'service',
  pedestrian: 'service',
  track: 'service',
  path: 'path',
  footway: 'path',
  cycleway: 'path',
  bridleway: 'path',
  steps: 'path',
  rail: 'rail',
  light_rail: 'rail',
  narrow_gauge: 'rail',
}
