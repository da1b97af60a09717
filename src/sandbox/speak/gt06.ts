/*
 * Concox GT06E and similar devices: "GPS Tracker Communication Protocol". Frames as drawn in protocols/gt06.
 *
 * By the specification a location (22) has no answer. So the tracker sends a heartbeat (13) after its locations. A server
 * answers it with its serial number, in order: with this answer everything before it has arrived.
 */
import { ByteWriter, crc16X25, type Fix } from '../../../protocols/kit/index.ts'
import type { Packet, PacketSender, StreamSpeech } from './speech.ts'
import { kilometresPerHour } from './write.ts'

/** A login, then locations with a heartbeat after them. */
export const gt06: StreamSpeech = {
  name: 'gt06',
  protocol: 'gt06',
  transport: 'tcp',
  maxFixes: 20,
  login,
  packet,
  answers: (bytes) => (bytes.length < 3 || bytes.length < bytes[2] + 5 ? 0 : bytes[2] + 5),
}

const LOGIN = 0x01
const LOCATION = 0x22
const HEARTBEAT = 0x13

function login(id: string): Packet {
  const imei = Buffer.from(id.padStart(16, '0'), 'hex')
  return { bytes: frame(LOGIN, imei, 1), accepted: (answer) => answer.equals(frame(LOGIN, EMPTY, 1)) || undefined }
}

function packet(fixes: readonly Fix[], { serial }: PacketSender): Packet {
  // Serial numbers continue through the packets of a connection, each of which has at most this many frames.
  const first = serial * (gt06.maxFixes + 1)
  const locations = fixes.map((fix, index) => frame(LOCATION, locationOf(fix), first + index))
  const heartbeat = first + fixes.length
  const expected = frame(HEARTBEAT, EMPTY, heartbeat)
  return {
    bytes: Buffer.concat([...locations, frame(HEARTBEAT, STATUS, heartbeat)]),
    accepted: (answer) => answer.equals(expected) || undefined,
  }
}

/** `YYMMDDhhmmss C|satellites latitude longitude speed course+flags`, cell, ignition, upload mode, whether it is late. */
function locationOf(fix: Fix): Buffer {
  const flags = POSITIONED | (fix.latitude < 0 ? 0 : NORTH) | (fix.longitude < 0 ? WEST : 0)
  return new ByteWriter()
    .ymdhms(fix.time)
    .u8(0xc0 | Math.min(15, fix.satellites ?? 0))
    .u32(Math.round(Math.abs(fix.latitude) * 1.8e6))
    .u32(Math.round(Math.abs(fix.longitude) * 1.8e6))
    .u8(Math.min(255, kilometresPerHour(fix.speed)))
    .u16(flags | Math.round(fix.heading ?? 0))
    .bytes(CELL)
    .bytes([1, 0, 0])
    .toBuffer()
}

/** `7878 length type content serial crc 0D0A`; the length is from the type to the checksum. */
function frame(type: number, content: Buffer, serial: number): Buffer {
  const w = new ByteWriter()
    .u16(0x7878)
    .u8(content.length + 5)
    .u8(type)
    .bytes(content)
    .u16(serial)
  return w.crc16(crc16X25, 2).u16(0x0d0a).toBuffer()
}

const POSITIONED = 0x1000
const WEST = 0x0800
const NORTH = 0x0400
/** Country, network, area and cell. */
const CELL = Buffer.from('01060128f101f71c', 'hex')

const EMPTY = Buffer.alloc(0)
/** Ignition on and charging, battery full, strong signal, no alarm, English. */
const STATUS = Buffer.of(0x46, 6, 4, 0, 2)
