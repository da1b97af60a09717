import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PAGE_DIR } from '../page/build/folder.mjs'
import { say, type Text } from '../texts/text.ts'

/** A table of places by columns: entry i of each array is place i. Coordinates in thousandths of a degree. */
interface PlaceColumns {
  readonly names: readonly string[]
  readonly lat: readonly number[]
  readonly lon: readonly number[]
}

/** Finds the place near a position with a grid of whole degrees. */
export class Places {
  readonly #columns: PlaceColumns
  readonly #cells: ReadonlyMap<number, number[]>

  constructor(columns: PlaceColumns) {
    const { lat, lon, names } = columns
    this.#columns = columns
    this.#cells = Map.groupBy(names.keys(), (at) => cellOf(Math.floor(lat[at] / 1000), Math.floor(lon[at] / 1000)))
  }

  /** `2 km NE of Kaunas`, or `in Kaunas` within a kilometre of its middle; undefined: no place is within 100 km. */
  near(latitude: number, longitude: number): Text | undefined {
    const { lat, lon, names } = this.#columns
    const perDegree = KM_PER_DEGREE * Math.cos((latitude * Math.PI) / 180)
    const [row, column] = [Math.floor(latitude), Math.floor(longitude)]
    // Towards the poles a degree is short.
    const reach = Math.min(180, Math.ceil(FARTHEST_KM / Math.max(perDegree, 1)))
    let nearest = { at: -1, square: FARTHEST_KM ** 2, north: 0, east: 0 }
    for (let y = row - 1; y <= row + 1; y++)
      for (let x = column - reach; x <= column + reach; x++)
        for (const at of this.#cells.get(cellOf(y, x)) ?? []) {
          const north = (latitude - lat[at] / 1000) * KM_PER_DEGREE
          const east = (((longitude - lon[at] / 1000 + 540) % 360) - 180) * perDegree
          const square = north * north + east * east
          if (square < nearest.square) nearest = { at, square, north, east }
        }
    const { at, square, north, east } = nearest
    if (at < 0) return undefined
    const km = Math.sqrt(square)
    if (km < 1) return say('in {}', names[at])
    const point = POINTS[Math.round((Math.atan2(east, north) / Math.PI) * 4 + 8) % 8]
    return say(`{} km ${point} of {}` as const, Math.round(km), names[at])
  }
}

/** Resolves to the places of the built page; to none if it is not built. */
export async function readPlaces(): Promise<Places> {
  const text = await readFile(join(PAGE_DIR, 'places.json'), 'utf8').catch(() => NOWHERE)
  return new Places(JSON.parse(text) as PlaceColumns)
}

/** Returns the cell of one whole degree; columns beyond 180° E continue at 180° W. */
function cellOf(row: number, column: number): number {
  return row * 360 + ((column + 540) % 360)
}

const NOWHERE = '{"names":[],"lat":[],"lon":[]}'
const POINTS = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'] as const
const KM_PER_DEGREE = 111.195
/** Less than a degree of latitude. */
const FARTHEST_KM = 100
