import { isImei } from '../../domain/ids.ts'

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

type PathStep = string | number

/** A value that stands at one path in all samples. */
interface JsonLeaf {
  readonly steps: readonly PathStep[]
  /**
   * The name of the value or of the list that contains it (`gpsLat` becomes `gps_lat`), after the name of the object around
   * it.
   */
  readonly name: string
  readonly fullName: string
  readonly values: unknown[]
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

/** The names of a kind of value, likeliest first, and a test of its range. */
interface ValueKind {
  readonly names: readonly RegExp[]
  readonly fits: (value: unknown) => boolean
  /** Lowers the rank of a candidate below that of its name. */
  readonly penalty?: (leaf: JsonLeaf) => number
}

/** Returns the scalars of the samples by path; all elements of a list of objects share one path. */
function leavesOf(samples: readonly unknown[]): JsonLeaf[] {
  const leaves = new Map<string, JsonLeaf>()
  const left = samples.slice(0, MOST_SAMPLES).map((value) => ({ steps: [] as PathStep[], name: '', parent: '', value }))
  for (let next = left.pop(); next && leaves.size < MOST_LEAVES; next = left.pop()) {
    const { steps, name, parent, value } = next
    if (steps.length > DEEPEST || value === null) continue
    if (Array.isArray(value)) {
      const isOfScalars = value.every((each) => typeof each !== 'object')
      for (const [index, each] of value.slice(0, MOST_ELEMENTS).entries())
        left.push({ steps: [...steps, isOfScalars ? index : EVERY], name, parent, value: each })
    } else if (typeof value === 'object') {
      // The last one is taken first.
      for (const [key, each] of Object.entries(value).toReversed())
        if (!/["\\]/.test(key) && key.length <= LONGEST_NAME)
          left.push({ steps: [...steps, key], name: spread(key), parent: name, value: each })
    } else {
      const key = JSON.stringify(steps)
      const leaf = leaves.get(key) ?? { steps, name, fullName: `${parent}_${name}`, values: [] }
      if (value !== '') leaf.values.push(value)
      leaves.set(key, leaf)
    }
  }
  return [...leaves.values()].filter(({ values }) => values.length > 0)
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
    const path = (index: number) => (each: readonly PathStep[]) =>
      pathOf({ ...leaf, steps: [...leaf.steps, index] }, each) ?? ''
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
  const path = (leaf: JsonLeaf) => (each: readonly PathStep[]) => pathOf(leaf, each) ?? ''
  return { lat, lon, doubts, latPath: path(lat), lonPath: path(lon) }
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

function rankOf({ name, fullName, values }: JsonLeaf, { names, fits }: ValueKind): number {
  return values.every(fits) ? names.findIndex((each) => each.test(name) || each.test(fullName)) : -1
}

/** Returns the prefix before the word for latitude or longitude in a name, with its underscore. */
function prefixOf(name: string): string {
  return /^(.*_)?(?:lat|lon|lng|long)(?:itude)?/.exec(name)?.[1] ?? ''
}

function sharedSteps(one: readonly PathStep[], other: readonly PathStep[]): number {
  let count = 0
  while (count < one.length && one[count] === other[count]) count++
  return count
}

function isBeside(one: JsonLeaf, other: JsonLeaf): boolean {
  return one.steps.length === other.steps.length && startsWith(other.steps, one.steps.slice(0, -1))
}

function startsWith(steps: readonly PathStep[], beginning: readonly PathStep[]): boolean {
  return beginning.every((step, at) => steps[at] === step)
}

/** The path of a leaf: from the entry on if it is in one. */
function pathOf(leaf: Pick<JsonLeaf, 'steps'> | undefined, each: readonly PathStep[]): string | undefined {
  if (!leaf) return undefined
  const isInEntry = each.length > 0 && startsWith(leaf.steps, each)
  return isInEntry ? textOf(leaf.steps.slice(each.length), false) : textOf(leaf.steps, true)
}

function textOf(steps: readonly PathStep[], isWhole: boolean): string {
  const parts = steps.map((step) => {
    if (step === EVERY) return '[*]'
    if (typeof step === 'number') return `[${step}]`
    return /^[^.[\]"'\s$*]+$/.test(step) ? `.${step}` : `["${step}"]`
  })
  return isWhole ? `$${parts.join('')}` : parts.join('').replace(/^\./, '')
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

/** `gpsLat`, `GPS-Lat` and `gps.lat` as `gps_lat`. */
function spread(name: string): string {
  return name
    .slice(-60)
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z\d]+/g, '_')
    .toLowerCase()
}

const isNumber = (value: unknown): boolean =>
  (typeof value === 'number' || (typeof value === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(value))) &&
  Number.isFinite(Number(value))

const within = (min: number, max: number) => (value: unknown) =>
  isNumber(value) && Number(value) >= min && Number(value) <= max

const isDegrees = (max: number) => (value: unknown) => within(-max, max)(value)

function ofDegrees({ values }: JsonLeaf, max: number): boolean {
  return values.every(isDegrees(max)) && values.some((value) => Number(value) !== 0)
}

const isPairText = (value: unknown) =>
  typeof value === 'string' && /^\s*-?\d{1,2}\.\d+\s*,\s*-?\d{1,3}\.\d+(\s*,.*)?$/.test(value)

const isId = (value: unknown) =>
  (typeof value === 'string' && /^[^\s]{2,64}$/.test(value)) ||
  (typeof value === 'number' && Number.isSafeInteger(value))

const isTime = (value: unknown) =>
  isNumber(value)
    ? (Number(value) > 1e9 && Number(value) < 1e10) || (Number(value) > 1e12 && Number(value) < 1e13)
    : typeof value === 'string' && /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:?\d\d)?$/.test(value)

const isFlag = (value: unknown) => typeof value === 'boolean' || value === 0 || value === 1

const LATITUDE: ValueKind = { names: [/^lat(itude)?$/, /latitude/, /(^|_)lat(_|$)/], fits: isDegrees(90) }
const LONGITUDE: ValueKind = {
  names: [/^(lon|lng|long)(gitude)?$|^longitude$/, /longitude/, /(^|_)(lon|lng|long)(_|$)/],
  fits: isDegrees(180),
}
const PAIR = /coord|^loc(ation)?$|^pos(ition)?$|^gps$|geo|^ll$/
const LAT_LON = /lat_?(lng|lon)/
/** Of a base station, a gateway, or another place than that of the device. */
const OF_OTHERS = /tower|cell|gateway|home|start|begin|end_|dest|target|min_|max_|server|host/
const TIME: ValueKind = {
  penalty: ({ fullName }) => (/server|receiv|system|upload|arriv|updat|creat/.test(fullName) ? 0.5 : 0),
  names: [
    /^(fix|gps|device|location)_?(time|ts|at)(stamp)?$|^tst$|^timestamp$|^recorded_at$/,
    /^(time|ts|t|date|datetime|date_time|utc|when|epoch)$/,
    /(^|_)(time|timestamp|datetime|ts|at|utc|date|when)(_|$)/,
  ],
  fits: isTime,
}
const DEVICE: ValueKind = {
  penalty: ({ values }) => {
    if (values.every((value) => isImei(String(value)))) return -2
    return values.every((value) => Number(value) < LEAST_ID) ? 1 : 0
  },
  names: [
    /imei/,
    /^(device|tracker|unit|terminal|unique|node|thing)_?(id|uid)?$|^(dev_?(eui|id)|ident|ser|serial(_number)?|sn|tid)$|(^|_)mac$/,
    /(device|tracker|unit|asset|vehicle)_?(id|uid|name|serial)$/,
    /^(vehicle|asset|uid|uuid|id|name|user|coreid|key|topic)$/,
    /(^|_)(id|name)$/,
  ],
  fits: isId,
}
const SPEED: ValueKind = { names: [/^(speed|spd|velocity|vel|sog|sp)$/, /speed|velocity/], fits: within(0, 400) }
const MEASURED = [
  [
    'heading',
    {
      names: [/^(heading|course|bearing|cog|ang|angle|azimuth|dir|direction)$/, /heading|course|bearing|azimuth/],
      fits: within(0, 360),
    },
  ],
  ['altitude', { names: [/^(alt|altitude|ele|elevation|height)$/, /altitude|elevation/], fits: within(-500, 12_000) }],
  [
    'accuracy',
    {
      names: [/^(accuracy|horizontal_accuracy|acc|h_?acc|precision|radius|uncertainty)$/, /accuracy|precision/],
      fits: (value: unknown) => within(0, 100_000)(value) && !isFlag(value),
    },
  ],
  ['hdop', { names: [/hdop/], fits: within(0, 99) }],
  ['satellites', { names: [/^(sats?|satellites|nsat|num_?sats?)$/, /satellite/], fits: within(0, 60) }],
  ['valid', { names: [/^(valid|gps_?valid|fix_?valid|is_?valid)$/], fits: isFlag }],
] as const satisfies readonly (readonly [string, ValueKind])[]
const SAID = [
  ['ignition', { names: [/^(ignition|ign|acc|engine_?on|ignition_?(on|status))$/, /ignition/], fits: isFlag }],
  ['moving', { names: [/^(moving|motion|is_?moving|movement)$/], fits: isFlag }],
  ['charging', { names: [/^(charging|is_?charging)$/], fits: isFlag }],
  [
    'battery_percent',
    {
      names: [/^(batt?|battery|battery_?(level|percent(age)?|pct|soc))$/],
      fits: (value: unknown) => within(2, 100)(value) && Number.isInteger(Number(value)),
    },
  ],
  ['battery_voltage', { names: [/batt?(ery)?_?(volt|v$|mv)|^v_?bat/], fits: within(2, 60_000) }],
  [
    'external_voltage',
    { names: [/(ext(ernal)?|power|supply|vehicle|main).*volt|^v_?(in|ext)$/], fits: within(2, 60_000) },
  ],
] as const satisfies readonly (readonly [string, ValueKind])[]
const UNITS = [
  [/km_?h|kph|kmph/, 'kmh'],
  [/knot|(^|_)kn(_|$)|^sog$/, 'knots'],
  [/mph|miles/, 'mph'],
  [/m_?p?_?s$|meters_?per_?second|metres_?per_?second/, 'ms'],
] as const
const EVERY = '*'
/** 216 km/h. */
const FASTEST_MS = 60
const LEAST_MV = 500
/** A smaller number is mostly one of a database. */
const LEAST_ID = 100_000
const MOST_SAMPLES = 20
const MOST_LEAVES = 500
const MOST_ELEMENTS = 5
const DEEPEST = 10
const LONGEST_NAME = 100
