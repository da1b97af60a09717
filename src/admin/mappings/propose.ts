import {
  EVERY,
  isBeside,
  type JsonLeaf,
  leavesOf,
  type PathStep,
  pathOf,
  sharedSteps,
  spread,
  startsWith,
  textOf,
} from './json-leaves.ts'
import {
  DEVICE,
  isPairText,
  LAT_LON,
  LATITUDE,
  LONGITUDE,
  MEASURED,
  OF_OTHERS,
  ofDegrees,
  PAIR,
  rankOf,
  SAID,
  SPEED,
  TIME,
  UNITS,
  type ValueKind,
} from './value-kinds.ts'

/** A mapping as mappings.yaml has it. */
type MappingText = Readonly<Record<string, unknown>>

/**
 * A mapping that may fit. `doubts`: keys whose value the JSON does not settle, such as the unit of a speed or the order of
 * two numbers.
 */
export interface Proposal {
  readonly mapping: MappingText
  readonly doubts: readonly string[]
}

/**
 * Guesses which values of unknown JSON are its positions, by their names and ranges; undefined if no value looks like a
 * coordinate. `samples`: parsed messages of one kind. `isTopic`: the topic names the device.
 */
export function proposeMapping(samples: readonly unknown[], isTopic = false): Proposal | undefined {
  const leaves = leavesOf(samples)
  const place = placeIn(leaves)
  if (!place) return undefined
  const { lat, lon, doubts } = place
  const each = lat.steps.slice(0, lat.steps.lastIndexOf(EVERY) + 1)
  const inEntry = leaves.filter(({ steps }) => startsWith(steps, each) && !steps.slice(each.length).includes(EVERY))
  const ofMessage = each.length > 0 ? leaves.filter(({ steps }) => !steps.includes(EVERY)) : []
  const scope: Around = { lat, found: [...inEntry, ...ofMessage].filter((leaf) => leaf !== lat && leaf !== lon), each }
  const time = best(scope, TIME)
  const speed = best(scope, SPEED)
  const unit = speed && unitOf(speed)
  const taken = new Set([time, speed])
  const mapping = {
    device: isTopic ? undefined : pathOf(best(scope, DEVICE), each),
    each: each.length > 0 ? textOf(each, true) : undefined,
    time: pathOf(time, each),
    time_format: time && timeFormat(time.values),
    lat: place.latPath(each),
    lon: place.lonPath(each),
    ...Object.fromEntries(MEASURED.map(([key, kind]) => [key, pathOf(best(scope, kind, taken), each)])),
    speed: speed && { path: pathOf(speed, each), unit: unit?.unit },
    said: saidIn(scope),
  }
  const known = Object.entries(mapping).filter(([, value]) => value !== undefined)
  return { mapping: Object.fromEntries(known), doubts: [...doubts, ...(unit?.isGuess ? ['speed.unit'] : [])] }
}

interface Around {
  readonly lat: JsonLeaf
  readonly found: readonly JsonLeaf[]
  readonly each: readonly PathStep[]
}

interface PlaceFound {
  readonly lat: JsonLeaf
  readonly lon: JsonLeaf
  readonly doubts: readonly string[]
  latPath(each: readonly PathStep[]): string
  lonPath(each: readonly PathStep[]): string
}

/** Finds latitude and longitude side by side: two numbers, a list of two, or a text such as "54.6,25.2". */
function placeIn(leaves: readonly JsonLeaf[]): PlaceFound | undefined {
  const byName = leaves.flatMap((lat) => {
    const rank = rankOf(lat, LATITUDE)
    if (rank < 0 || !ofDegrees(lat, 90)) return []
    const siblings = leaves.filter((lon) => isBeside(lat, lon) && rankOf(lon, LONGITUDE) >= 0 && ofDegrees(lon, 180))
    const prefix = prefixOf(lat.name)
    const lon = siblings.find(({ name }) => prefixOf(name) === prefix) ?? siblings[0]
    return lon ? [{ rank: OF_OTHERS.test(lat.fullName) ? rank + 20 : rank, place: pairOf(lat, lon, []) }] : []
  })
  const inLists = leaves.flatMap((first) => {
    const second = leaves.find(
      (other) => isBeside(first, other) && first.steps.at(-1) === 0 && other.steps.at(-1) === 1,
    )
    if (!second || !PAIR.test(first.name) || !ofDegrees(first, 180) || !ofDegrees(second, 180)) return []
    // GeoJSON has the longitude first.
    const isGeoJson = /coord/.test(first.name) || !ofDegrees(first, 90)
    const [lat, lon] = isGeoJson ? [second, first] : [first, second]
    return ofDegrees(lat, 90) ? [{ rank: 10, place: pairOf(lat, lon, ['lat']) }] : []
  })
  const inTexts = leaves.flatMap((leaf) => {
    if (!(PAIR.test(leaf.name) || LAT_LON.test(leaf.name)) || !leaf.values.every(isPairText)) return []
    const path = (index: number) => pathIn({ steps: [...leaf.steps, index] })
    return [{ rank: 11, place: { lat: leaf, lon: leaf, doubts: ['lat'], latPath: path(0), lonPath: path(1) } }]
  })
  const [likeliest] = [...byName, ...inLists, ...inTexts].toSorted(
    (a, b) =>
      a.rank - b.rank ||
      b.place.lat.values.length - a.place.lat.values.length ||
      a.place.lat.steps.length - b.place.lat.steps.length,
  )
  return likeliest?.place
}

function pairOf(lat: JsonLeaf, lon: JsonLeaf, doubts: readonly string[]): PlaceFound {
  return { lat, lon, doubts, latPath: pathIn(lat), lonPath: pathIn(lon) }
}

/** The path of a leaf for each entry that it may be in. */
function pathIn(leaf: Pick<JsonLeaf, 'steps'>) {
  return (each: readonly PathStep[]) => pathOf(leaf, each) ?? ''
}

/** Returns the likeliest leaf of a kind: by its name, then by its distance to the place. */
function best(
  { found, lat }: Around,
  kind: ValueKind,
  taken: ReadonlySet<JsonLeaf | undefined> = new Set(),
): JsonLeaf | undefined {
  // `where_lat` is beside `where_when`.
  const prefix = prefixOf(lat.name)
  const [first] = found
    .filter((leaf) => !taken.has(leaf))
    .map((leaf) => ({
      leaf,
      rank: rankOf(leaf, kind),
      penalty: kind.penalty?.(leaf) ?? 0,
      isOfPlace: prefix !== '' && leaf.name.startsWith(prefix),
      shared: sharedSteps(leaf.steps, lat.steps),
    }))
    .filter(({ rank }) => rank >= 0)
    .toSorted(
      (a, b) =>
        Number(b.isOfPlace) - Number(a.isOfPlace) ||
        a.rank + a.penalty - b.rank - b.penalty ||
        b.shared - a.shared ||
        a.leaf.steps.length - b.leaf.steps.length,
    )
  return first?.leaf
}

/** Returns the prefix before the word for latitude or longitude in a name, with its underscore. */
function prefixOf(name: string): string {
  return /^(.*_)?(?:lat|lon|lng|long)(?:itude)?/.exec(name)?.[1] ?? ''
}

function timeFormat(values: readonly unknown[]): string {
  if (values.every((value) => Number(value) > 1e11)) return 'ms'
  return values.every((value) => Number(value) > 1e8) ? 's' : 'iso'
}

/** Guesses the unit of a speed by its name, or by values that no vehicle reaches in metres a second. */
function unitOf({ name, steps, values }: JsonLeaf): { readonly unit: string; readonly isGuess: boolean } {
  const path = steps.map((step) => spread(String(step))).join('_')
  const named = UNITS.find(([pattern]) => pattern.test(name) || pattern.test(path))
  if (named) return { unit: named[1], isGuess: false }
  return { unit: values.some((value) => Number(value) > FASTEST_MS) ? 'kmh' : 'ms', isGuess: true }
}

function saidIn(scope: Around): MappingText | undefined {
  const found = SAID.flatMap(([key, kind]) => {
    const leaf = best(scope, kind)
    if (!leaf) return []
    const path = pathOf(leaf, scope.each)
    const isMillivolts = key.endsWith('voltage') && leaf.values.every((value) => Number(value) >= LEAST_MV)
    return [[key, isMillivolts ? { path, unit: 'mv' } : path] as const]
  })
  return found.length > 0 ? Object.fromEntries(found) : undefined
}

/** 216 km/h. */
const FASTEST_MS = 60
const LEAST_MV = 500
