/*
 * The position of JT/T 808 (table 23 of 2013, table 30 of 2019).
 *
 *   AAAAAAAA SSSSSSSS YYYYYYYY OOOOOOOO HHHH VVVV GGGG YYMMDDhhmmss of (tag, length, value)
 *
 *   A  alarms                             Y, O  latitude, longitude, 1e-6 degrees     V  speed, 0.1 km/h
 *   S  status; bit 1: fixed, 2: south,    H  altitude, m                             G  heading, degrees
 *      3: west                            time: packed decimals, GMT+8               tags and alarms: said.ts
 */
import { ByteReader, bcdYmd, type Fix, heading, isBcdYmd, kmh, type Said, type Settings } from '../kit/index.ts'
import { besides } from './said.ts'

/** Bytes of the part that is always there, and of its first field. */
export const BASIC = 28
const ALARMS = 4

/** Alarms that the standard of 2019 has otherwise than makers' documents: of tyres and blind spots. */
const OTHERWISE_IN_2019 = 0x0003_8000

/** A report; undefined where the device has neither a fix nor the time. @throws DecodeError */
export function report(r: ByteReader, settings: Settings, isOf2019: boolean): Fix | undefined {
  return location(r, settings, alarmsOf(r, isOf2019))
}

/** What a report says besides its position, for one that is no fix. @throws DecodeError */
export function saidIn(r: ByteReader, isOf2019: boolean): Said | undefined {
  const alarms = alarmsOf(r, isOf2019)
  const status = r.u32()
  return besides(r.skip(BASIC - 2 * ALARMS), alarms, status).said
}

const alarmsOf = (r: ByteReader, isOf2019: boolean) => (isOf2019 ? r.u32() & ~OTHERWISE_IN_2019 : r.u32())

/** What follows A. */
function location(r: ByteReader, { timeZone }: Settings, alarms: number): Fix | undefined {
  const status = r.u32()
  const latitude = angle(r.i32(), status & SOUTH)
  const longitude = angle(r.i32(), status & WEST)
  const altitude = r.i16()
  const speed = kmh(r.u16() / 10)
  const direction = heading(r.u16())
  const valid = (status & FIXED) !== 0
  if (!valid && !DATE.test(r.ahead().hex(6))) return undefined
  const time = bcdYmd(r) - (timeZone === undefined ? GMT_8 : 0)
  const { satellites, said } = besides(r, alarms, status)
  return { time, latitude, longitude, valid, altitude, speed, heading: direction, satellites, said }
}

/**
 * The first position without A in content whose layout is not known: a place on Earth, a course and a date of the calendar.
 * Undefined where there is none.
 */
export function locationWithin(content: Buffer, settings: Settings): Fix | undefined {
  for (let at = 0; at + BASIC - ALARMS <= content.length; at++)
    if (isLocation(content, at)) return location(new ByteReader(content, at, at + BASIC - ALARMS), settings, 0)
  return undefined
}

function isLocation(bytes: Buffer, at: number): boolean {
  const [latitude, longitude] = [bytes.readInt32BE(at + 4), bytes.readInt32BE(at + 8)]
  const isOnEarth = Math.abs(latitude) <= 90e6 && Math.abs(longitude) <= 180e6
  return isOnEarth && bytes.readUInt16BE(at + 16) <= 360 && isBcdYmd(bytes, at + 18)
}

/** Some devices put the sign into the number, whatever their status says. */
const angle = (value: number, isNegative: number) => (isNegative ? -Math.abs(value) : value) / 1e6

const [FIXED, SOUTH, WEST] = [2, 4, 8]
/** Of a clock that was set. */
const DATE = /^\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{6}$/
const GMT_8 = 8 * 3_600_000
