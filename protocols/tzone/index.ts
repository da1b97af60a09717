/*
 * TZone AVL-02, AVL-05, AVL-08, AVL-09, AVL-19, TT11, TT18, TT19: "TT18 User Guide V2.1" (manualsbrain.com) has the envelope;
 * the blocks of the AVL series and of TT19 are inferred from frames. TCP, big-endian; IMEI in packed decimals.
 *
 *   545A LLLL 2424 KKKK VVVVVVVV IIIIIIIIIIIIIIII YYMMDDhhmmss [GGGG gps] WWWW cells UUUU status NNNN CCCC 0D0A
 *   gps, AVL    S AAAAAAAA OOOOOOOO YYMMDDhhmmss PPPP ------ FFFF     22 bytes
 *   gps, TT19   ff YYMMDDhhmmss AAAAAAAA OOOOOOOO DDDD EEEE PPPP HHHH S   24 bytes
 *   status      alarm x{5} BBBB VVVV … of 010x, alarm x{4} BBBB VVVV … of 015x, alarm x{3} BBBB … of 04xx (gps, empty, in 0407 alone)
 *
 *   L  length from 2424 to C        G  length of gps; 0: no fix         F  flags: 0800 fix, 0400 north, 0200 west, 01FF heading
 *   K  hardware: 01xx AVL,          S  satellites                       D  HDOP, 0.1          E  altitude, metres
 *      0413 TT19; other 04xx        A, O  latitude, longitude, 1e-5'    P  speed, 0.01 knots  H  heading, degrees
 *      have no GPS                     (1e-4' of 010x)                  N  number of the packet
 *   W, U  lengths                   B, V  battery, vehicle, 0.01 V   (what is in front of them, and other status, is not known)
 *   C  CRC-16/MODBUS from 2424 to N    Answer: @ACK,<N>#@UTC time:YYYY-MM-DD hh:mm:ss
 *
 * A word of angle in TT19 has been seen with positive values alone.
 */
import {
  ByteReader,
  bytesYmd,
  clock,
  crc16Modbus,
  DecodeError,
  dop,
  enveloped,
  type Fix,
  heading,
  knots,
  lengthField,
  type Message,
  type Protocol,
  type Said,
  type Session,
  said,
  verified,
} from '../kit/index.ts'

export default {
  name: 'tzone',
  devices: 'TZone AVL-02, AVL-05, AVL-08, AVL-09, AVL-19, TT11, TT18, TT19',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/MODBUS', covers: [4, -4] },
  tcp: { port: 5029, frame: lengthField({ start: 'TZ', at: 2, width: 2, add: 6, end: '\r\n' }) },
  decode,
} satisfies Protocol

const DATA = 0x2424
const TT18 = 0x0407
const TT19 = 0x0413
/** Temperature loggers and beacon readers. */
const WITHOUT_GPS = new Set([0x0402, 0x0403, 0x0406, TT18])
/** From this hardware on the AVL series has angles ten times as fine. */
const FINE_ANGLES = 0x0150
const VALID = 0x0800
const NORTH = 0x0400
const WEST = 0x0200
const HEADING = 0x01ff

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc16Modbus, from: 4, width: 2, trailing: 2 }, session))
  if (r.u16() !== DATA) throw new DecodeError('unsupported', 'the frame is no data packet')
  const hardware = r.u16()
  const device = r.skip(4).bcd(8).replace(/^0/, '')
  const reply = Buffer.from(`@ACK,${frame.readUInt16BE(frame.length - 6)}#@UTC time:${utcTime(session.now)}`)
  return enveloped({ device, reply }, () => positionOf(r.skip(6), hardware))
}

/** YYYY-MM-DD hh:mm:ss. */
function utcTime(now: number): string {
  const digits = clock(now)
  const part = (at: number, width = 2) => digits.slice(at, at + width)
  return `${part(0, 4)}-${part(4)}-${part(6)} ${part(8)}:${part(10)}:${part(12)}`
}

function positionOf(r: ByteReader, hardware: number): Pick<Message, 'fixes' | 'none' | 'said'> {
  if (WITHOUT_GPS.has(hardware))
    return { none: 'sensors', said: hardware !== TT18 || skipBlock(r) ? saidOf(r, hardware) : undefined }
  if (hardware >> 8 !== 1 && hardware !== TT19) return {}
  const length = r.u16()
  const block = r.part(length)
  const more = saidOf(r, hardware)
  if (length === 0) return { none: 'no fix', said: more }
  if (length < (hardware === TT19 ? 24 : 22)) return { fixes: [] }
  const fix = hardware === TT19 ? tt19Fix(block) : avlFix(block, hardware >= FINE_ANGLES ? 6e6 : 6e5)
  return fix ? { fixes: [{ ...fix, said: more }] } : { none: 'no fix', said: more }
}

/** Of the block of status, behind that of cells; undefined of one that is missing or too short. */
function saidOf(r: ByteReader, hardware: number): Said | undefined {
  const skip = hardware >> 8 !== 1 ? 4 : hardware >= FINE_ANGLES ? 5 : 6
  if (!skipBlock(r) || r.left < 2) return undefined
  const length = r.u16()
  if (length < skip + 4 || r.left < length) return undefined
  const battery = r.skip(skip).u16() / 100
  return said({ battery_voltage: battery, external_voltage: skip > 4 ? r.u16() / 100 : undefined })
}

/** Whether it could pass over a block. */
function skipBlock(r: ByteReader): boolean {
  const length = r.left < 2 ? Number.POSITIVE_INFINITY : r.u16()
  if (r.left < length) return false
  r.skip(length)
  return true
}

/** Undefined where the receiver has never had a time. */
function avlFix(r: ByteReader, perDegree: number): Fix | undefined {
  const satellites = r.u8()
  const latitude = r.u32() / perDegree
  const longitude = r.u32() / perDegree
  if (r.at(r.position).hex(6) === '000000000000') return undefined
  const time = bytesYmd(r)
  const speed = knots(r.u16() / 100)
  const flags = r.skip(3).u16()
  return {
    time,
    latitude: flags & NORTH ? latitude : -latitude,
    longitude: flags & WEST ? -longitude : longitude,
    valid: (flags & VALID) !== 0,
    speed,
    heading: heading(flags & HEADING),
    satellites,
  }
}

function tt19Fix(r: ByteReader): Fix {
  const time = bytesYmd(r.skip(1))
  const fix = { time, latitude: r.i32() / 6e6, longitude: r.i32() / 6e6 }
  const hdop = dop(r.u16() / 10)
  const altitude = r.i16()
  const speed = knots(r.u16() / 100)
  const course = heading(r.u16())
  const satellites = r.u8()
  return { ...fix, valid: satellites > 0, altitude, speed, heading: course, hdop, satellites }
}
