import { VectorTile, type VectorTileFeature } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { namesIn, type TileNames } from './labels.ts'
import type { TilePlace } from './source.ts'
import { type Drawn, drawnAs } from './style.ts'

/** A tile that has been read: a picture, or the shapes and names of a vector tile. */
export type Tile = Picture | Shapes

interface Picture {
  readonly image: ImageBitmap
}

interface Shapes {
  /** In sides of the tile, times `UNITS`. */
  readonly paths: ReadonlyMap<Drawn, Path2D>
  readonly names: TileNames
}

/** Reads the bytes of a tile. @throws if they are neither a vector tile nor a picture that the browser can show */
export async function readTile(bytes: ArrayBuffer, place: TilePlace): Promise<Tile> {
  if (isPicture(new Uint8Array(bytes))) return { image: await createImageBitmap(new Blob([bytes])) }
  const { layers } = new VectorTile(new PbfReader(bytes))
  const paths = new Map<Drawn, Path2D>()
  const names: TileNames = { places: [], streets: [] }
  for (const [name, layer] of Object.entries(layers)) {
    for (let i = 0; i < layer.length; i++) {
      const feature = layer.feature(i)
      const drawn = drawnAs(name, feature.properties)
      if (drawn) addShape(paths, drawn, feature)
      namesIn(names, name, feature, place)
    }
  }
  return { paths, names }
}

/** Adds polygons and lines. An object that is an area in one schema and a line in another is drawn as what it is here. */
function addShape(paths: Map<Drawn, Path2D>, drawn: Drawn, feature: VectorTileFeature): void {
  const isArea = feature.type === 3
  if (feature.type === 1 || (isArea && drawn === 'stream')) return
  const own = !isArea && drawn === 'water' ? 'stream' : drawn
  const path = paths.get(own) ?? new Path2D()
  paths.set(own, path)
  const scale = UNITS / feature.extent
  for (const line of feature.loadGeometry()) {
    for (const [index, { x, y }] of line.entries())
      if (index === 0) path.moveTo(x * scale, y * scale)
      else path.lineTo(x * scale, y * scale)
    if (isArea) path.closePath()
  }
}

function isPicture(bytes: Uint8Array): boolean {
  const begin = String.fromCharCode(...bytes.subarray(0, 12))
  return /^(?:\x89PNG|\xff\xd8\xff|.{4}ftypavif|.{8}WEBP)/s.test(begin)
}

/** The side of a tile in the coordinates of its paths. */
export const UNITS = 4096
