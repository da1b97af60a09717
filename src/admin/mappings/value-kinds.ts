import { isImei } from '../../domain/ids.ts'
import type { JsonLeaf } from './json-leaves.ts'

/** The names of a kind of value, likeliest first, and a test of its range. */
export interface ValueKind {
  readonly names: readonly RegExp[]
  readonly fits: (value: unknown) => boolean
  /** Lowers the rank of a candidate below that of its name. */
  readonly penalty?: (leaf: JsonLeaf) => number
}

export function rankOf({ name, fullName, values }: JsonLeaf, { names, fits }: ValueKind): number {
  return values.every(fits) ? names.findIndex((each) => each.test(name) || each.test(fullName)) : -1
}

const isNumber = (value: unknown): boolean =>
  (typeof value === 'number' || (typeof value === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(value))) &&
  Number.isFinite(Number(value))

const between = (min: number, max: number) => (value: unknown) =>
  isNumber(value) && Number(value) >= min && Number(value) <= max

const isDegrees = (max: number) => (value: unknown) => between(-max, max)(value)

export function ofDegrees({ values }: JsonLeaf, max: number): boolean {
  return values.every(isDegrees(max)) && values.some((value) => Number(value) !== 0)
}

export const isPairText = (value: unknown) =>
  typeof value === 'string' && /^\s*-?\d{1,2}\.\d+\s*,\s*-?\d{1,3}\.\d+(\s*,.*)?$/.test(value)

const isId = (value: unknown) =>
  (typeof value === 'string' && /^[^\s]{2,64}$/.test(value)) ||
  (typeof value === 'number' && Number.isSafeInteger(value))

const isTime = (value: unknown) =>
  isNumber(value)
    ? (Number(value) > 1e9 && Number(value) < 1e10) || (Number(value) > 1e12 && Number(value) < 1e13)
    : typeof value === 'string' && /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:?\d\d)?$/.test(value)

const isFlag = (value: unknown) => typeof value === 'boolean' || value === 0 || value === 1

export const LATITUDE: ValueKind = { names: [/^lat(itude)?$/, /latitude/, /(^|_)lat(_|$)/], fits: isDegrees(90) }
export const LONGITUDE: ValueKind = {
  names: [/^(lon|lng|long)(gitude)?$|^longitude$/, /longitude/, /(^|_)(lon|lng|long)(_|$)/],
  fits: isDegrees(180),
}
export const PAIR = /coord|^loc(ation)?$|^pos(ition)?$|^gps$|geo|^ll$/
export const LAT_LON = /lat_?(lng|lon)/
/** Of a base station, a gateway, or another place than that of the device. */
export const OF_OTHERS = /tower|cell|gateway|home|start|begin|end_|dest|target|min_|max_|server|host/
export const TIME: ValueKind = {
  penalty: ({ fullName }) => (/server|receiv|system|upload|arriv|updat|creat/.test(fullName) ? 0.5 : 0),
  names: [
    /^(fix|gps|device|location)_?(time|ts|at)(stamp)?$|^tst$|^timestamp$|^recorded_at$/,
    /^(time|ts|t|date|datetime|date_time|utc|when|epoch)$/,
    /(^|_)(time|timestamp|datetime|ts|at|utc|date|when)(_|$)/,
  ],
  fits: isTime,
}
export const DEVICE: ValueKind = {
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
export const SPEED: ValueKind = {
  names: [/^(speed|spd|velocity|vel|sog|sp)$/, /speed|velocity/],
  fits: between(0, 400),
}
export const MEASURED = [
  [
    'heading',
    {
      names: [/^(heading|course|bearing|cog|ang|angle|azimuth|dir|direction)$/, /heading|course|bearing|azimuth/],
      fits: between(0, 360),
    },
  ],
  ['altitude', { names: [/^(alt|altitude|ele|elevation|height)$/, /altitude|elevation/], fits: between(-500, 12_000) }],
  [
    'accuracy',
    {
      names: [/^(accuracy|horizontal_accuracy|acc|h_?acc|precision|radius|uncertainty)$/, /accuracy|precision/],
      fits: (value: unknown) => between(0, 100_000)(value) && !isFlag(value),
    },
  ],
  ['hdop', { names: [/hdop/], fits: between(0, 99) }],
  ['satellites', { names: [/^(sats?|satellites|nsat|num_?sats?)$/, /satellite/], fits: between(0, 60) }],
  ['valid', { names: [/^(valid|gps_?valid|fix_?valid|is_?valid)$/], fits: isFlag }],
] as const satisfies readonly (readonly [string, ValueKind])[]
export const SAID = [
  ['ignition', { names: [/^(ignition|ign|acc|engine_?on|ignition_?(on|status))$/, /ignition/], fits: isFlag }],
  ['moving', { names: [/^(moving|motion|is_?moving|movement)$/], fits: isFlag }],
  ['charging', { names: [/^(charging|is_?charging)$/], fits: isFlag }],
  [
    'battery_percent',
    {
      names: [/^(batt?|battery|battery_?(level|percent(age)?|pct|soc))$/],
      fits: (value: unknown) => between(2, 100)(value) && Number.isInteger(Number(value)),
    },
  ],
  ['battery_voltage', { names: [/batt?(ery)?_?(volt|v$|mv)|^v_?bat/], fits: between(2, 60_000) }],
  [
    'external_voltage',
    { names: [/(ext(ernal)?|power|supply|vehicle|main).*volt|^v_?(in|ext)$/], fits: between(2, 60_000) },
  ],
] as const satisfies readonly (readonly [string, ValueKind])[]
export const UNITS = [
  [/km_?h|kph|kmph/, 'kmh'],
  [/knot|(^|_)kn(_|$)|^sog$/, 'knots'],
  [/mph|miles/, 'mph'],
  [/m_?p?_?s$|meters_?per_?second|metres_?per_?second/, 'ms'],
] as const
/** A smaller number is mostly the id of a row in a database. */
const LEAST_ID = 100_000
