/*
 * The position of JT/T 808 (table 23 of 2013, table 30 of 2019).
 *
 *   AAAAAAAA SSSSSSSS YYYYYYYY OOOOOOOO HHHH VVVV GGGG YYMMDDhhmmss of (tag, length, value)
 *
 *   A  alarms                             Y, O  latitude, longitude, 1e-6 degrees     V  speed, 0.1 km/h
 *   S  status; bit 1: fixed, 2: south,    H  altitude, m                             G  heading, degrees
 *      3: west                            time: packed decimals, GMT+8               tag 31: satellites
 */
import { bcdYmd, type ByteReader, type Fix, heading, kmh, type Session, tlv } from '../kit/index.ts'

/** Bytes of the part that is always there, and of its first field. */
export const BASIC = 28
export const ALARMS = 4

/** What follows A. Undefined where the device has neither a fix nor the time. */
export function location(r: ByteReader, { settings }: Session): Fix | undefined {
  const status = r.u32()
  const latitude = angle(r.i32(), status & SOUTH)
  const longitude = angle(r.i32(), status & WEST)
  const altitude = r.i16()
  const speed = kmh(r.u16() / 10)
  const direction = heading(r.u16())
  const valid = (status & FIXED) !== 0
  if (!valid && !DATE.test(r.ahead().hex(6))) return undefined
  const time = bcdYmd(r) - (settings.timeZone === undefined ? GMT_8 : 0)
  const fix: Fix = { time, latitude, longitude, valid, altitude, speed, heading: direction }
  for (const { tag, value } of tlv(r, { tag: 1, length: 1 }))
    if (tag === SATELLITES && value.left > 0) fix.satellites = value.u8()
  return fix
}

/** Some devices put the sign into the number, whatever their status says. */
const angle = (value: number, isNegative: number) => (isNegative ? -Math.abs(value) : value) / 1e6

const [FIXED, SOUTH, WEST] = [2, 4, 8]
const SATELLITES = 0x31
/** Of a clock that was set. */
const DATE = /^\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{6}$/
const GMT_8 = 8 * 3_600_000
