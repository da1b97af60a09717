/*
 * Codec 7, of the GH3000 family: "GH3000 AVL Protocol". The masks M and G say which parts a record has, in this order:
 *
 *   TTTTTTTT MM [gps] [1-byte io] [2-byte io] [4-byte io]
 *   gps  GG [YYYYYYYY OOOOOOOO] [HHHH] [AA] [VV] [SS] [cell: LLLL CCCC] [signal: RR] [operator: PPPPPPPP]
 *   io   NN of (id, value)
 *
 *   T  priority (2 bits), seconds since 2007-01-01 (30 bits)    A  heading, 360/256 degrees     V  speed, km/h
 *   M, G  which parts follow, from bit 0 on                     Y, O  latitude, longitude: float, degrees
 *   H  altitude, m                                              S  satellites
 */
import { type ByteReader, type Fix, finite, kmh, type Said } from '../kit/index.ts'
import { withElement } from './elements.ts'

/** Reads one record: its fix, if it has coordinates, and what it says beside it. */
export function gh3000Record(r: ByteReader): { fix?: Fix; said?: Said } {
  const time = EPOCH + (r.u32() & 0x3fff_ffff) * 1000
  const parts = r.u8()
  const fix = parts & 1 ? gps(r, time) : undefined
  let said: Said | undefined
  for (let n = parts & 2 ? r.u8() : 0; n > 0; n--) said = withElement(r.u8(), r.u8(), said)
  for (let n = parts & 4 ? r.u8() : 0; n > 0; n--) said = withElement(r.u8(), r.u16(), said)
  if (parts & 8) r.skip(r.u8() * 5)
  if (fix) fix.said = said
  return { fix, said }
}

const EPOCH = Date.UTC(2007, 0, 1)

function gps(r: ByteReader, time: number): Fix | undefined {
  const parts = r.u8()
  const latitude = parts & 1 ? finite(r.f32()) : undefined
  const longitude = parts & 1 ? finite(r.f32()) : undefined
  const altitude = parts & 2 ? r.i16() : undefined
  const heading = parts & 4 ? (r.u8() * 360) / 256 : undefined
  const speed = parts & 8 ? kmh(r.u8()) : undefined
  const satellites = parts & 16 ? r.u8() : undefined
  r.skip((parts & 32 && 4) + (parts & 64 && 1) + (parts & 128 && 4))
  if (latitude === undefined || longitude === undefined) return undefined
  return { time, latitude, longitude, valid: satellites !== 0, altitude, speed, heading, satellites }
}
