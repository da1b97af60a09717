import { gzipSync } from 'node:zlib'
import { PbfWriter } from 'pbf'
import { zxyToTileId } from 'pmtiles'

/** An object of a vector tile: its tags, and its points in 4,096ths of the tile. */
export interface TileObject {
  readonly tags: Readonly<Record<string, string>>
  readonly type: 'point' | 'line' | 'area'
  readonly points: readonly (readonly [x: number, y: number])[]
}

/** The bytes of a vector tile with these layers (Mapbox Vector Tile 2.1). */
export function vectorTile(layers: Readonly<Record<string, readonly TileObject[]>>): Buffer {
  const pbf = new PbfWriter()
  for (const [name, objects] of Object.entries(layers)) pbf.writeMessage(3, writeLayer, { name, objects })
  return Buffer.from(pbf.finish())
}

interface Layer {
  readonly name: string
  readonly objects: readonly TileObject[]
}

function writeLayer({ name, objects }: Layer, pbf: PbfWriter): void {
  const keys = [...new Set(objects.flatMap(({ tags }) => Object.keys(tags)))]
  const values = [...new Set(objects.flatMap(({ tags }) => Object.values(tags)))]
  pbf.writeVarintField(15, 2)
  pbf.writeStringField(1, name)
  for (const { tags, type, points } of objects) {
    const indexes = Object.entries(tags).flatMap(([key, value]) => [keys.indexOf(key), values.indexOf(value)])
    pbf.writeMessage(
      2,
      (_: unknown, feature: PbfWriter) => {
        feature.writePackedVarint(2, indexes)
        feature.writeVarintField(3, TYPES.indexOf(type))
        feature.writePackedVarint(4, commands(type, points))
      },
      undefined,
    )
  }
  for (const key of keys) pbf.writeStringField(3, key)
  for (const value of values)
    pbf.writeMessage(4, (text: string, written: PbfWriter) => written.writeStringField(1, text), value)
  pbf.writeVarintField(5, 4096)
}

/** MoveTo, LineTo and ClosePath with their steps, zigzag. */
function commands(type: TileObject['type'], points: TileObject['points']): number[] {
  const steps = points.map(([x, y], i) => [x - (points[i - 1]?.[0] ?? 0), y - (points[i - 1]?.[1] ?? 0)])
  const zigzag = steps.map((step) => step.map((part) => (part << 1) ^ (part >> 31)))
  const lines = points.length > 1 ? [((points.length - 1) << 3) | 2, ...zigzag.slice(1).flat()] : []
  return [(1 << 3) | 1, ...zigzag[0], ...lines, ...(type === 'area' ? [(1 << 3) | 7] : [])]
}

const TYPES = ['unknown', 'point', 'line', 'area']

/** A PMTiles 3 archive of these tiles, by `z/x/y`, compressed with gzip. `type` 1: vector tiles, 2: PNG. */
export function pmtiles(tiles: ReadonlyMap<string, Buffer>, { type = 1, attribution = '' } = {}): Buffer {
  const entries = Array.from(tiles, ([place, bytes]) => {
    const [z, x, y] = place.split('/').map(Number)
    return { z, id: zxyToTileId(z, x, y), bytes: type === 1 ? gzipSync(bytes) : bytes }
  }).toSorted((one, other) => one.id - other.id)
  const pbf = new PbfWriter()
  pbf.writeVarint(entries.length)
  for (const [i, { id }] of entries.entries()) pbf.writeVarint(id - (entries[i - 1]?.id ?? 0))
  for (const _ of entries) pbf.writeVarint(1)
  for (const { bytes } of entries) pbf.writeVarint(bytes.length)
  // 0: behind the entry before.
  for (const [i] of entries.entries()) pbf.writeVarint(i === 0 ? 1 : 0)
  const directory = gzipSync(pbf.finish())
  const metadata = gzipSync(JSON.stringify(attribution === '' ? {} : { attribution }))
  const data = Buffer.concat(entries.map(({ bytes }) => bytes))
  const header = Buffer.alloc(127)
  header.write('PMTiles')
  header[7] = 3
  const leaves = 127 + directory.length + metadata.length
  const sections = [127, directory.length, 127 + directory.length, metadata.length, leaves, 0, leaves, data.length]
  const numbers = [...sections, entries.length, entries.length, entries.length]
  for (const [i, number] of numbers.entries()) header.writeBigUInt64LE(BigInt(number), 8 + 8 * i)
  const zooms = entries.map(({ z }) => z)
  header.set([1, 2, type === 1 ? 2 : 1, type, Math.min(...zooms), Math.max(...zooms)], 96)
  return Buffer.concat([header, directory, metadata, data])
}

/** The tile around a place, `z/x/y`. */
export function tileAt(zoom: number, latitude: number, longitude: number): string {
  const sine = Math.sin((latitude * Math.PI) / 180)
  const x = longitude / 360 + 0.5
  const y = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
  return [zoom, Math.floor(x * 2 ** zoom), Math.floor(y * 2 ** zoom)].join('/')
}
