/*
 * Ruptela FM-Eco3, FM-Eco4, FM-Tco4, FM-Pro4, FM-Basic, Trace5: "Ruptela protocol" (doc.ruptela.com,
 * flespi.com/protocols/ruptela). TCP, or UDP where a device is set to it ("FM-Eco, SMS commands", §1.1.9). Big-endian.
 *
 *   LLLL IIIIIIIIIIIIIIII TT payload CCCC
 *
 *   L  length from I to the end of the payload      T  type      C  CRC-16/KERMIT from I to the end of the payload
 *   I  IMEI
 *
 *   01, 44  records: how many are left in the device, how many follow, the records; answer: 0002 64 01 13BC
 *   0F, 10  identification, heartbeat; answer: type + 100                 07  answer to a command
 *   09  codes of faults: how many, (x, S, O, A, source, code{5})…; answer: type + 100
 *
 *   record  SSSSSSSS NN [EE] PP OOOOOOOO AAAAAAAA HHHH GGGG S VVVV D ID…      (E only, and 2 bytes of each id, in type 44)
 *
 *   S  unix seconds    E  of a record in several parts: how many more, which     H  altitude, 0.1 m     V  speed, km/h
 *   N  fraction        O, A  longitude, latitude, 1e-7 degrees; 80000000: none   G  heading, 0.01°      D  HDOP, 0.1
 *
 * After D: the id of the event, then for the sizes 1, 2, 4, 8: how many, and (id, value): 5 ignition (409, where it is sent as
 * well), 173 movement, 29 external power and 30 own battery (mV). The parts of a record repeat its position: the first one counts.
 * Of records without a place the last one says the state.
 */
import {
  ByteReader,
  ByteWriter,
  crc16Kermit,
  DecodeError,
  dop,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  type Said,
  type Session,
  said,
  verified,
} from '../kit/index.ts'

export default {
  name: 'ruptela',
  devices: 'Ruptela FM-Eco3, FM-Eco4, FM-Tco4, FM-Pro4, FM-Basic, Trace5',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/KERMIT', covers: [2, -2] },
  tcp: { port: 5046, frame: lengthField({ at: 0, width: 2, add: 4 }) },
  udp: { port: 5046 },
  decode,
} satisfies Protocol

const RECORDS = 0x01
const EXTENDED_RECORDS = 0x44
const RECORDS_ANSWER = 0x64
const COMMAND_ANSWER = 0x07
const FAULTS = 0x09
/** Bytes of a code with its place. */
const FAULT = 19
const IDENTIFICATION = 0x0f
const HEARTBEAT = 0x10
const ANSWERED_WITH = 100
/** Bytes of a record without elements. */
const LEAST = 27
const NO_PLACE = -0x8000_0000
const NO_ALTITUDE = -0x8000
const UNKNOWN_8 = 0xff
const UNKNOWN_16 = 0xffff

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc16Kermit, from: 2, width: 2 }, session))
  const device = r.digits64().padStart(15, '0')
  const type = r.u8()
  if (type === RECORDS || type === EXTENDED_RECORDS)
    return enveloped({ device, reply: answer(RECORDS_ANSWER) }, () => records(r, type === EXTENDED_RECORDS))
  if (type === IDENTIFICATION) return { device, none: 'login', reply: answer(type + ANSWERED_WITH) }
  if (type === HEARTBEAT) return { device, none: 'heartbeat', reply: answer(type + ANSWERED_WITH) }
  if (type === FAULTS) return enveloped({ device, reply: answer(type + ANSWERED_WITH) }, () => faults(r))
  return { device, none: type === COMMAND_ANSWER ? 'command answer' : undefined }
}

/** A positive answer. */
function answer(type: number): Buffer {
  return new ByteWriter().u16(2).u8(type).u8(1).crc16(crc16Kermit, 2).toBuffer()
}

function records(r: ByteReader, isExtended: boolean): Message {
  const count = r.skip(1).u8()
  const read: Records = { fixes: [] }
  for (let i = 0; i < count; i++) addRecord(read, r, isExtended)
  if (r.left >= LEAST) throw new DecodeError('malformed', `${r.left} bytes behind the last record`)
  return read.fixes.length > 0 ? { fixes: read.fixes } : { none: 'no fix', said: read.placeless }
}

interface Records {
  readonly fixes: Fix[]
  /** What the last record without a place says. */
  placeless?: Said
}

/** The places of codes of faults: they say nothing of the fix. */
function faults(r: ByteReader): Message {
  const count = r.u8()
  if (r.left !== count * FAULT) return { fixes: [] }
  const entries = Array.from({ length: count }, () => r.part(FAULT))
  const fixes = entries.flatMap((entry) => {
    const time = entry.skip(1).u32() * 1000
    const [longitude, latitude] = [entry.i32(), entry.i32()]
    if (longitude === NO_PLACE || latitude === NO_PLACE) return []
    return [{ time, latitude: latitude / 1e7, longitude: longitude / 1e7, valid: true }]
  })
  return fixes.length > 0 ? { fixes } : { none: 'no fix' }
}

/** Adds the fix of a record, if it has a place. The further parts of a record complete its fix. */
function addRecord(read: Records, r: ByteReader, isExtended: boolean): void {
  const time = r.u32() * 1000
  const part = isExtended ? r.skip(1).u8() & 0x0f : 0
  r.skip(isExtended ? 1 : 2)
  const longitude = r.i32()
  const latitude = r.i32()
  const altitude = r.i16()
  const course = r.u16() / 100
  const satellites = r.u8()
  const speed = r.u16()
  const hdop = r.u8()
  const says = elements(r, isExtended ? 2 : 1)
  const last = read.fixes.at(-1)
  if (part > 0 && last?.time === time) last.said = says ? { ...last.said, ...says } : last.said
  if (longitude === NO_PLACE || latitude === NO_PLACE) {
    read.placeless = part > 0 && says ? { ...read.placeless, ...says } : (says ?? read.placeless)
    return
  }
  if (part > 0) return
  read.fixes.push({
    time,
    latitude: latitude / 1e7,
    longitude: longitude / 1e7,
    valid: true,
    altitude: altitude === NO_ALTITUDE ? undefined : altitude / 10,
    heading: heading(course),
    satellites: satellites === UNKNOWN_8 ? undefined : satellites,
    speed: speed === UNKNOWN_16 ? undefined : kmh(speed),
    hdop: hdop === UNKNOWN_8 ? undefined : dop(hdop / 10),
    said: says,
  })
}

const [IGNITION, VIRTUAL_IGNITION, MOVEMENT, EXTERNAL, BATTERY] = [5, 409, 173, 29, 30]

function elements(r: ByteReader, idWidth: number): Said | undefined {
  const says: Said = {}
  r.skip(idWidth)
  for (let left = r.u8(); left > 0; left--) {
    const id = r.uint(idWidth)
    const value = r.u8()
    if (id === VIRTUAL_IGNITION || (id === IGNITION && says.ignition === undefined)) says.ignition = value !== 0
    else if (id === MOVEMENT) says.moving = value !== 0
  }
  for (let left = r.u8(); left > 0; left--) {
    const id = r.uint(idWidth)
    const value = r.u16()
    if (id === EXTERNAL) says.external_voltage = value / 1000
    else if (id === BATTERY) says.battery_voltage = value / 1000
  }
  for (const width of [4, 8]) r.skip(r.u8() * (idWidth + width))
  return said(says)
}
