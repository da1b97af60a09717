/*
 * One waiting fix as an entry of a lane's list: about 33 bytes, so that it takes less than 40 in Redis.
 *
 *   L F RRRRR TTTT AAAA OOOO MM HH SS D… P…
 *
 *   L  length of the record, itself included      A, O  latitude, longitude, signed, 1e-7 degrees
 *   F  1: D is a number; 2: P is there; 4: P is   M  accuracy, metres, 65535 at most
 *      a guess; 8: a held fix whose T is in UTC;
 *      16: delivered before, to another lane
 *   R  when it was received, ms since 2020        H  heading, degrees; 65535: not known
 *   T  the fix's own time, unix seconds           S  speed, cm/s; 65535: not known
 *   D  the device: u64 where its id is a number without leading zeros, else text, with a 00 where P follows
 *   P  of a device that is not configured: the protocol that it was read with
 *
 * All big-endian. It carries its device, so that courier and route can be looked up anew.
 */

/** A fix ready to be pushed: PositionV3's fields, in its units. */
export interface Position {
  /** Unix seconds. */
  readonly timestamp: number
  readonly latitude: number
  readonly longitude: number
  /** Metres, an integer, at least 1. */
  readonly accuracy: number
  /** Degrees, an integer, 0–359. */
  readonly heading?: number
  /** Metres a second. */
  readonly speed?: number
}

/**
 * Why fixes are held: their device is not configured, it has no route at their time, their time is in the future, or they are off
 * the track of the device.
 */
export const HOLD_REASONS = ['unknown', 'no_route', 'clock', 'suspicious'] as const
export type HoldReason = (typeof HOLD_REASONS)[number]

/** Records of one device for one place, as `packRecords` makes them: a lane, or what is held for a reason. */
export type Part = LanePart | HeldPart

/** What copies get of the records of a part: see copied.ts. */
export interface CopiedPart {
  /** The names of the logs that they are written to, with a space between. */
  readonly logs: string
  readonly head: Buffer
  /** The length of each record without what only the logs keep of it, which follows there. */
  readonly ownLength: number
}

interface LanePart {
  readonly lane: string
  readonly device: string
  readonly records: Buffer
  readonly copied?: CopiedPart
  /**
   * As `HeldPart.isProven`, for records that have to be held behind earlier ones. Undefined: they came over a
   * connection.
   */
  readonly isProven?: boolean
}

export interface HeldPart {
  readonly held: HoldReason
  readonly device: string
  readonly records: Buffer
  readonly copied?: CopiedPart
  /**
   * Whether they came over a connection, which proves the sender's address. The address of a datagram may be forged.
   */
  readonly isProven: boolean
  /** When they are judged again (ms UTC): their route may begin then, or they are too old. */
  readonly lookAt: number
  /**
   * The version of the roster by which they were judged: if a newer one is in effect, they are judged again at once.
   */
  readonly rosterVersion: number
}

/** What one frame leaves behind of a device: its records, and what the custody account counts with them. */
export interface Storable {
  readonly parts: readonly Part[]
  /** Fixes, the filtered ones included. */
  readonly received: number
  /** One reason for each fix that is not stored. */
  readonly filtered: readonly string[]
}

/** Records of one device, one behind the other. `device` comes from `packDevice`; `received` in ms UTC. */
export function packRecords(positions: readonly Position[], device: Buffer, received: number): Buffer {
  const length = HEAD + device.length - 1
  const sinceEpoch = received - EPOCH
  const bytes = Buffer.allocUnsafe(length * positions.length)
  let at = 0
  for (const position of positions) {
    bytes[at] = length
    bytes[at + 1] = device[0]
    bytes[at + 2] = sinceEpoch / 0x1_0000_0000
    bytes.writeUInt32BE(sinceEpoch % 0x1_0000_0000, at + 3)
    bytes.writeUInt32BE(position.timestamp, at + 7)
    bytes.writeInt32BE(Math.round(position.latitude * 1e7), at + 11)
    bytes.writeInt32BE(Math.round(position.longitude * 1e7), at + 15)
    bytes.writeUInt16BE(Math.min(position.accuracy, UNKNOWN), at + 19)
    bytes.writeUInt16BE(position.heading ?? UNKNOWN, at + 21)
    const { speed } = position
    bytes.writeUInt16BE(speed === undefined ? UNKNOWN : Math.min(Math.round(speed * 100), UNKNOWN), at + 23)
    // A call of `copy` costs more.
    for (let i = 1; i < device.length; i++) bytes[at + HEAD - 1 + i] = device[i]
    at += length
  }
  return bytes
}

/** The same of fixes that were delivered before, to another lane. */
export function packRedelivered(positions: readonly Position[], device: Buffer, queued: number): Buffer {
  const bytes = packRecords(positions, device, queued)
  for (let at = 0; at < bytes.length; at += bytes[at]) bytes[at + 1] |= REDELIVERED
  return bytes
}

/** The protocol that a fix was read with. `isGuess`: it was found out, and no checksum proves it. */
export interface Spoken {
  readonly protocol: string
  readonly isGuess: boolean
}

/**
 * A device id as records carry it: a byte that says how, then the id, and the protocol of a device that is not configured.
 * @throws RangeError beyond 200 bytes.
 */
export function packDevice(id: string, spoken?: Spoken): Buffer {
  const packed = packId(id)
  if (!spoken) return packed
  const end = packed[0] & DEVICE_IS_NUMBER ? [] : [0]
  packed[0] |= HAS_PROTOCOL | (spoken.isGuess ? IS_GUESS : 0)
  return Buffer.concat([packed, Buffer.from(end), Buffer.from(spoken.protocol)])
}

function packId(id: string): Buffer {
  if (!NUMERIC.test(id)) {
    const text = Buffer.from(id)
    if (text.length > MAX_DEVICE_BYTES) throw new RangeError(`a device id has at most ${MAX_DEVICE_BYTES} bytes`)
    return Buffer.concat([Buffer.of(0), text])
  }
  const bytes = Buffer.alloc(9)
  bytes[0] = DEVICE_IS_NUMBER
  bytes.writeBigUInt64BE(BigInt(id), 1)
  return bytes
}

/** Records in slices of `most` at the most, each with how many there are in it. */
export function* slicesOf(bytes: Buffer, most: number): Generator<{ records: Buffer; count: number }> {
  for (let from = 0, at = 0; at < bytes.length; from = at) {
    let count = 0
    for (; at < bytes.length && count < most; count++) at += bytes[at]
    yield { records: bytes.subarray(from, at), count }
  }
}

/** How many records there are, and how many of them were delivered before, to another lane. */
export function countRecords(bytes: Buffer): { readonly count: number; readonly redelivered: number } {
  let [count, redelivered] = [0, 0]
  for (let at = 0; at < bytes.length; at += bytes[at], count++) if (isRedelivered(bytes, at)) redelivered++
  return { count, redelivered }
}

/** The body of a push: `{"positions": […]}`, in the order of the records. */
export function positionsJson(bytes: Buffer): string {
  let json = ''
  for (let at = 0; at < bytes.length; at += bytes[at]) {
    const heading = bytes.readUInt16BE(at + 21)
    const speed = bytes.readUInt16BE(at + 23)
    json +=
      (at === 0 ? '' : ',') +
      `{"timestamp":${bytes.readUInt32BE(at + 7)},"point":{"lat":${bytes.readInt32BE(at + 11) / 1e7}` +
      `,"lon":${bytes.readInt32BE(at + 15) / 1e7}},"accuracy":${bytes.readUInt16BE(at + 19)}` +
      (heading === UNKNOWN ? '' : `,"heading":${heading}`) +
      (speed === UNKNOWN ? '}' : `,"speed":${speed / 100}}`)
  }
  return `{"positions":[${json}]}`
}

/** What a record says of where and when. */
export function positionOf(record: Buffer): Position {
  const heading = record.readUInt16BE(21)
  const speed = record.readUInt16BE(23)
  return {
    timestamp: timestampOf(record),
    latitude: record.readInt32BE(11) / 1e7,
    longitude: record.readInt32BE(15) / 1e7,
    accuracy: record.readUInt16BE(19),
    heading: heading === UNKNOWN ? undefined : heading,
    speed: speed === UNKNOWN ? undefined : speed / 100,
  }
}

/** ms UTC at which a record, the first one of several, was received. */
export function receivedAt(bytes: Buffer): number {
  return arrivalAt(bytes, 0)
}

/** The fix's own time, unix seconds. */
export function timestampOf(record: Buffer): number {
  return timestampAt(record, 0)
}

/** As `receivedAt`, of the record that begins at a position. */
export function arrivalAt(records: Buffer, at: number): number {
  return EPOCH + records[at + 2] * 0x1_0000_0000 + records.readUInt32BE(at + 3)
}

/** As `timestampOf`, of the record that begins at a position. */
export function timestampAt(records: Buffer, at: number): number {
  return records.readUInt32BE(at + 7)
}

/** Whether the time of a held record is in UTC, and not as the device said it: it had a lane, and went behind held ones. */
export function isInUtc(record: Buffer): boolean {
  return (record[1] & IS_UTC) > 0
}

/** Whether the record that begins at a position was delivered before, to another lane. */
export function isRedelivered(records: Buffer, at: number): boolean {
  return (records[at + 1] & REDELIVERED) > 0
}

/** The device that the record came from. */
export function deviceOf(record: Buffer): string {
  if (record[1] & DEVICE_IS_NUMBER) return record.readBigUInt64BE(HEAD).toString()
  return record.toString('utf8', HEAD, record[1] & HAS_PROTOCOL ? record.indexOf(0, HEAD) : record[0])
}

/** The protocol that a record of a device that was not configured was read with; undefined where it does not say. */
export function spokenIn(record: Buffer): Spoken | undefined {
  if (!(record[1] & HAS_PROTOCOL)) return undefined
  const at = record[1] & DEVICE_IS_NUMBER ? HEAD + 8 : record.indexOf(0, HEAD) + 1
  return { protocol: record.toString('utf8', at, record[0]), isGuess: (record[1] & IS_GUESS) > 0 }
}

const HEAD = 25
const UNKNOWN = 0xffff
const DEVICE_IS_NUMBER = 1
const HAS_PROTOCOL = 2
const IS_GUESS = 4
/** Set by store.lua in records whose time is UTC already. */
const IS_UTC = 8
const REDELIVERED = 16
export const MAX_DEVICE_BYTES = 200
const NUMERIC = /^[1-9]\d{0,17}$/
const EPOCH = Date.UTC(2020, 0, 1)
