import { ALARMS, type Said } from '../../protocols/kit/said.ts'
import { isDigits } from '../domain/ids.ts'
import type { CopiedPart, Position } from './record.ts'

/*
 * What copies get (src/copies sends it). A company has up to two logs in each shard: `7` has what lanes get, for copies without
 * `without_route`; `7~` has the fixes without a route as well, when they come, for copies with it. A log is a list, and however many
 * copies get it, a call of store.lua adds one entry: what it has stored, in sections of one device and lane.
 *
 *   N G [L D…] H… , then N times  TTTT AAAA OOOO MM HH SS EE S [L B…]
 *
 *   N  number of fixes             T  the fix's own time, unix seconds      M  accuracy, metres, 65535 at most
 *   G  1–31: bytes of H;           A, O  latitude, longitude, signed,       H  heading, degrees; 65535: not known
 *      32: each fix has B;            1e-7 degrees                          S  speed, cm/s; 65535: not known
 *      64: the fixes were deleted, and nothing but N and G is there         E  altitude, metres, signed; −32768: not known
 *      128: D is there             D  the device, where its id is no number S  satellites; 255: not known
 *   H  `device/courier/route` in half bytes: a is /, f is nothing; without a route the device alone
 *   B  what the tracker said with the fix, see `packSaid`
 *
 * All big-endian. Each copy has a cursor in each log that it gets (lua/copies.lua). The list is trimmed to the slowest.
 */

/** The logs to which the fixes of a company are written: names separated by spaces; '' is none. */
export interface CompanyLogs {
  /** Of a fix that gets a lane when it comes. */
  readonly arriving: string
  /** Of a fix without a route, when it comes. */
  readonly unassigned: string
  /** Of a fix that was held without a route, and gets a lane. */
  readonly released: string
  /** Whether a copy wants the values that trackers send beside the position. */
  readonly hasSaid: boolean
}

/** The name of a log. */
export function logOf(company: string, isWithoutRoute: boolean): string {
  return isWithoutRoute ? `${company}~` : company
}

/** Returns the other log of the same company: with or without the fixes that have no route. */
export function otherLogOf(log: string): string {
  return log.endsWith('~') ? log.slice(0, -1) : `${log}~`
}

export function companyOfLog(log: string): string {
  return log.endsWith('~') ? log.slice(0, -1) : log
}

/** One fix as a copy gets it. */
export interface CopiedFix extends Position {
  readonly device: string
  readonly courier?: string
  readonly route?: string
  /** Metres above sea level. */
  readonly altitude?: number
  readonly satellites?: number
  readonly said?: Said
}

/** What a fix has beside its position. */
type Beside = Pick<CopiedFix, 'altitude' | 'satellites' | 'said'>

interface CopiedPlace {
  readonly device: string
  readonly lane?: { readonly courier: string; readonly route: string }
}

/**
 * Returns the records of a part in the form that store.lua needs for logs: each followed by the bytes that only the logs
 * keep.
 */
export function withCopied(
  records: Buffer,
  { positions, beside, place, logs, hasSaid }: CopiedRecords,
): { readonly records: Buffer; readonly copied: CopiedPart } {
  const ownLength = records[0]
  const { length: count } = positions
  const said = hasSaid ? packAll(beside, MOST_BYTES - ownLength - FIX_BYTES - 1) : undefined
  const saidBytes = said ? said.reduce((sum, { length }) => sum + length + 1, 0) : 0
  const bytes = Buffer.allocUnsafe((ownLength + FIX_BYTES) * count + saidBytes)
  let at = 0
  for (let index = 0; index < count; index++) {
    const from = index * ownLength
    // A call of `copy` costs more.
    for (let i = 1; i < ownLength; i++) bytes[at + i] = records[from + i]
    const behind = at + ownLength + FIX_BYTES
    writeFix(positions[index], beside[index], bytes, at + ownLength)
    let length = ownLength + FIX_BYTES
    if (said) {
      bytes[behind] = said[index].length
      bytes.set(said[index], behind + 1)
      length += said[index].length + 1
    }
    bytes[at] = length
    at += length
  }
  return { records: bytes, copied: { logs, ownLength, head: headOf(place, said !== undefined) } }
}

/** Packs the values beside each position; undefined: there are none. */
function packAll(beside: readonly Beside[], room: number): Buffer[] | undefined {
  if (!beside.some((each) => each.said)) return undefined
  const said = beside.map((each) => packSaid(each.said, room))
  return said.some(({ length }) => length > 0) ? said : undefined
}

interface CopiedRecords {
  /** Positions of the records, with times in UTC, and the other values of their fixes. */
  readonly positions: readonly Position[]
  readonly beside: readonly Beside[]
  readonly place: CopiedPlace
  readonly logs: string
  readonly hasSaid: boolean
}

/** Returns the packed head of a place from a cache: lanes stay the same objects. */
function headOf(place: CopiedPlace, isSaid: boolean): Buffer {
  const { device, lane } = place
  const known = lane && heads.get(lane)
  if (known?.device === device && known.isSaid === isSaid) return known.head
  const head = packHead(place, isSaid)
  if (lane) heads.set(lane, { device, isSaid, head })
  return head
}

const heads = new WeakMap<object, { readonly device: string; readonly isSaid: boolean; readonly head: Buffer }>()

function packHead({ device, lane }: CopiedPlace, isSaid: boolean): Buffer {
  const isNumber = isDigits(device) && device.length <= MOST_DIGITS
  const places = [isNumber ? device : '', ...(lane ? [lane.courier, lane.route] : [])].join('/')
  const digits = places.replaceAll('/', 'a')
  const packed = Buffer.from(digits.length % 2 === 0 ? digits : `${digits}f`, 'hex')
  const flags = packed.length | (isSaid ? HAS_SAID : 0)
  if (isNumber) return Buffer.concat([Buffer.of(flags), packed])
  const text = Buffer.from(device)
  return Buffer.concat([Buffer.of(flags | IS_TEXT, text.length), text, packed])
}

function writeFix(position: Position, { altitude, satellites }: Beside, bytes: Buffer, at: number): void {
  const { heading, speed } = position
  bytes.writeUInt32BE(position.timestamp, at)
  bytes.writeInt32BE(Math.round(position.latitude * 1e7), at + 4)
  bytes.writeInt32BE(Math.round(position.longitude * 1e7), at + 8)
  bytes.writeUInt16BE(Math.min(position.accuracy, UNKNOWN), at + 12)
  bytes.writeUInt16BE(heading ?? UNKNOWN, at + 14)
  bytes.writeUInt16BE(speed === undefined ? UNKNOWN : Math.min(Math.round(speed * 100), UNKNOWN), at + 16)
  const metres = altitude === undefined ? NO_ALTITUDE : Math.round(altitude)
  bytes.writeInt16BE(Math.abs(metres) <= MOST_ALTITUDE ? metres : NO_ALTITUDE, at + 18)
  const isKnown = satellites !== undefined && satellites >= 0 && satellites < NO_SATELLITES
  bytes[at + 20] = isKnown ? Math.round(satellites) : NO_SATELLITES
}

/** The fixes of an entry, in the order in which they were stored; of fixes that were deleted undefined. */
export function fixesIn(entry: Buffer): (CopiedFix | undefined)[] {
  const fixes: (CopiedFix | undefined)[] = []
  for (const { count, head, first } of sectionsIn(entry)) {
    if (!head) {
      for (let i = 0; i < count; i++) fixes.push(undefined)
      continue
    }
    let at = first
    for (let i = 0; i < count; i++) {
      fixes.push({
        ...head.place,
        ...readFix(entry, at),
        ...readSaid(entry, head.hasSaid ? at + FIX_BYTES : undefined),
      })
      at += FIX_BYTES + (head.hasSaid ? entry[at + FIX_BYTES] + 1 : 0)
    }
  }
  return fixes
}

/** Returns the number of fixes in an entry, including deleted ones. */
export function countCopied(entry: Buffer): number {
  let count = 0
  for (const section of sectionsIn(entry)) count += section.count
  return count
}

/** Returns the entry without the fixes of some devices; undefined: it has none of them. */
export function withoutDevices(entry: Buffer, isOf: (device: string) => boolean): Buffer | undefined {
  const kept: Buffer[] = []
  let isChanged = false
  for (const { count, head, from, end } of sectionsIn(entry)) {
    const isGone = head !== undefined && isOf(head.place.device)
    kept.push(isGone ? Buffer.of(count, IS_DELETED) : entry.subarray(from, end))
    isChanged ||= isGone
  }
  return isChanged ? Buffer.concat(kept) : undefined
}

/** Packs one fix as an entry of its own. */
export function packCopied({ device, courier, route, ...fix }: CopiedFix): Buffer {
  const said = packSaid(fix.said, MOST_BYTES)
  const lane = courier === undefined || route === undefined ? undefined : { courier, route }
  const head = packHead({ device, lane }, said.length > 0)
  const bytes = Buffer.alloc(FIX_BYTES)
  writeFix(fix, fix, bytes, 0)
  const parts = [Buffer.of(1), head, bytes]
  return Buffer.concat(said.length > 0 ? [...parts, Buffer.of(said.length), said] : parts)
}

interface Section {
  readonly count: number
  /** Undefined: its fixes were deleted. */
  readonly head?: { readonly place: Pick<CopiedFix, 'device' | 'courier' | 'route'>; readonly hasSaid: boolean }
  /** Its begin and end, and the begin of its first fix. */
  readonly from: number
  readonly first: number
  readonly end: number
}

function* sectionsIn(entry: Buffer): Generator<Section> {
  for (let from = 0; from < entry.length; ) {
    const [count, flags] = [entry[from], entry[from + 1]]
    let at = from + 2
    if (flags & IS_DELETED) {
      yield { count, from, first: at, end: at }
      from = at
      continue
    }
    let text: string | undefined
    if (flags & IS_TEXT) {
      text = entry.toString('utf8', at + 1, at + 1 + entry[at])
      at += 1 + entry[at]
    }
    const digits = entry.toString('hex', at, at + (flags & PLACE_BYTES)).replace(/f$/, '')
    const [device, courier, route] = digits.split('a')
    const first = at + (flags & PLACE_BYTES)
    const hasSaid = (flags & HAS_SAID) > 0
    let end = first + count * FIX_BYTES
    if (hasSaid) {
      end = first
      for (let i = 0; i < count; i++) end += FIX_BYTES + 1 + entry[end + FIX_BYTES]
    }
    const lane = courier === undefined ? {} : { courier, route }
    yield { count, head: { place: { device: text ?? device, ...lane }, hasSaid }, from, first, end }
    from = end
  }
}

function readFix(entry: Buffer, at: number): Omit<CopiedFix, 'device'> {
  const [heading, speed] = [entry.readUInt16BE(at + 14), entry.readUInt16BE(at + 16)]
  const [altitude, satellites] = [entry.readInt16BE(at + 18), entry[at + 20]]
  return {
    timestamp: entry.readUInt32BE(at),
    latitude: entry.readInt32BE(at + 4) / 1e7,
    longitude: entry.readInt32BE(at + 8) / 1e7,
    accuracy: entry.readUInt16BE(at + 12),
    heading: heading === UNKNOWN ? undefined : heading,
    speed: speed === UNKNOWN ? undefined : speed / 100,
    altitude: altitude === NO_ALTITUDE ? undefined : altitude,
    satellites: satellites === NO_SATELLITES ? undefined : satellites,
  }
}

/**
 * Packs the values of a tracker: a mask of the present ones, then voltages in mV (3 bytes each), percentages in hundredths,
 * the length of the driver and the driver, and a mask of alarms. Empty if there are no values, or if they do not fit.
 */
function packSaid(said: Said | undefined, room: number): Buffer {
  if (!said) return NOTHING
  const { ignition, moving, charging, external_voltage, battery_voltage, battery_percent, driver, alarms } = said
  let mask = flagOf(ignition) | (flagOf(moving) << 2) | (flagOf(charging) << 4)
  let at = 2
  if (external_voltage !== undefined) {
    mask |= HAS_VOLTAGE
    at = SCRATCH.writeUIntBE(Math.min(Math.round(external_voltage * 1000), MOST_MV), at, 3)
  }
  if (battery_voltage !== undefined) {
    mask |= HAS_VOLTAGE << 1
    at = SCRATCH.writeUIntBE(Math.min(Math.round(battery_voltage * 1000), MOST_MV), at, 3)
  }
  if (battery_percent !== undefined) {
    mask |= HAS_PERCENT
    at = SCRATCH.writeUInt16BE(Math.round(battery_percent * 100), at)
  }
  if (driver !== undefined) {
    mask |= HAS_DRIVER
    SCRATCH[at] = SCRATCH.write(driver.slice(0, MOST_DRIVER).toWellFormed(), at + 1)
    at += 1 + SCRATCH[at]
  }
  if (alarms) {
    mask |= HAS_ALARMS
    at = SCRATCH.writeUInt16BE(
      alarms.reduce((bits, alarm) => bits | (1 << ALARMS.indexOf(alarm)), 0),
      at,
    )
  }
  SCRATCH.writeUInt16BE(mask)
  return mask === 0 || at > room ? NOTHING : Buffer.from(SCRATCH.subarray(0, at))
}

/** 0: not known; 1: no; 3: yes. */
function flagOf(value: boolean | undefined): number {
  return value === undefined ? 0 : value ? 3 : 1
}

function readSaid(entry: Buffer, where: number | undefined): Pick<CopiedFix, 'said'> {
  if (where === undefined || entry[where] === 0) return {}
  const mask = entry.readUInt16BE(where + 1)
  const said: Said = {}
  let at = where + 3
  for (const [index, name] of FLAGS.entries()) {
    const bits = mask >> (2 * index)
    if (bits & 1) said[name] = (bits & 2) > 0
  }
  for (const [index, name] of VOLTAGES.entries()) {
    if (!(mask & (HAS_VOLTAGE << index))) continue
    said[name] = entry.readUIntBE(at, 3) / 1000
    at += 3
  }
  if (mask & HAS_PERCENT) {
    said.battery_percent = entry.readUInt16BE(at) / 100
    at += 2
  }
  if (mask & HAS_DRIVER) {
    said.driver = entry.toString('utf8', at + 1, at + 1 + entry[at])
    at += 1 + entry[at]
  }
  if (mask & HAS_ALARMS) {
    const bits = entry.readUInt16BE(at)
    said.alarms = ALARMS.filter((_, index) => bits & (1 << index))
  }
  return { said }
}

const NOTHING = Buffer.alloc(0)
const FLAGS = ['ignition', 'moving', 'charging'] as const
const VOLTAGES = ['external_voltage', 'battery_voltage'] as const
const HAS_VOLTAGE = 64
const HAS_PERCENT = 256
const HAS_DRIVER = 512
const HAS_ALARMS = 1024
const MOST_DRIVER = 64
/** Room for all possible values; the driver has at most three bytes a character. */
const SCRATCH = Buffer.alloc(16 + 3 * MOST_DRIVER)
const MOST_MV = 0xffffff
const PLACE_BYTES = 31
const HAS_SAID = 32
const IS_DELETED = 64
const IS_TEXT = 128
const FIX_BYTES = 21
/** The length of a record, with what follows it, is one byte. */
const MOST_BYTES = 255
/** Beside the most digits of courier and route. */
const MOST_DIGITS = 19
const UNKNOWN = 0xffff
const NO_ALTITUDE = -32_768
const MOST_ALTITUDE = 32_767
const NO_SATELLITES = 255
