/*
 * Subrecords of telematics data. Little-endian.
 *
 *   10 LLLL TTTTTTTT AAAAAAAA OOOOOOOO FF SSSS DD odometer3 inputs RR [HHHHHH]    position
 *   11 LLLL FF [VVVV] [HHHH] [PPPP] [NN] …                                       of F's bits 0–3: VDOP, HDOP, PDOP, satellites
 *
 *   T  seconds since 2010       F  bit 0: fixed, 4: moving, 5: south,   S  0.1 km/h (bits 13–0), 14: below the sea, 15: 256° more
 *   A  latitude / 90° × 2³²−1      6: west, 7: H is there               D  heading     H  altitude, m     HDOP × 100
 *   O  longitude / 180° × 2³²−1 R  why it was sent: some reasons are alarms
 *
 * The ignition follows from no field, and voltages (14) are left out: their unit is 0.1 V, and terminals send whole volts.
 */
import { type Alarm, type ByteReader, dop, type Fix, heading, kmh, said, secondsSince, tlv } from '../kit/index.ts'

const POSITION = 0x10
const EXTENDED = 0x11
const FULL_SCALE = 0xffff_ffff
const timeOf = secondsSince(2010)

/** The positions of one record. @throws DecodeError */
export function readPositions(r: ByteReader): Fix[] {
  const fixes: Fix[] = []
  for (const { tag, value } of tlv(r, { tag: 1, length: 2, endian: 'little' })) {
    if (tag === POSITION) fixes.push(position(value))
    if (tag === EXTENDED && fixes.length > 0) extend(fixes[fixes.length - 1], value)
  }
  return fixes
}

function position(r: ByteReader): Fix {
  const time = timeOf(r.u32le())
  const latitude = (r.u32le() * 90) / FULL_SCALE
  const longitude = (r.u32le() * 180) / FULL_SCALE
  const flags = r.u8()
  const speed = r.u16le()
  const direction = r.u8() + (speed & 0x8000 ? 256 : 0)
  const alarm = r.left >= 5 ? ALARMS.get(r.ahead(4).u8()) : undefined
  const altitude = flags & 0x80 && r.left >= 8 ? r.skip(5).u24le() * (speed & 0x4000 ? -1 : 1) : undefined
  return {
    time,
    latitude: flags & 0x20 ? -latitude : latitude,
    longitude: flags & 0x40 ? -longitude : longitude,
    valid: (flags & 1) !== 0,
    altitude,
    speed: kmh((speed & 0x3fff) / 10),
    heading: heading(direction),
    said: said({ moving: (flags & 0x10) !== 0, alarms: alarm === undefined ? [] : [alarm] }),
  }
}

/** Reasons to send (GOST R 56360, EGTS_SR_POS_DATA): case open, main power lost, backup power low, panic button, emergency call … */
const ALARMS = new Map<number, Alarm>([
  [10, 'tampering'],
  [11, 'power_cut'],
  [12, 'low_battery'],
  [13, 'sos'],
  [15, 'sos'],
  [25, 'gps_antenna_cut'],
  [28, 'movement'],
])

function extend(fix: Fix, r: ByteReader): void {
  const flags = r.u8()
  if (flags & 1) r.skip(2)
  if (flags & 2) fix.hdop = dop(r.u16le() / 100)
  if (flags & 4) r.skip(2)
  if (flags & 8) fix.satellites = r.u8()
}
