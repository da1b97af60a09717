/*
 * Teltonika FMB and FMC with their default settings: "Teltonika Data Sending Protocols". The frames are drawn in
 * protocols/teltonika. A record has the I/O elements that the default profile sends while driving.
 */
import { ByteWriter, crc16Arc, type Fix } from '../../../protocols/kit/index.ts'
import type { DatagramSpeech, Packet, PacketSender, StreamSpeech } from './speech.ts'
import { kilometresPerHour } from './write.ts'

type Codec = 0x08 | 0x8e

/** Codec 8 over TCP. */
export const teltonika = stream('teltonika', 0x08)

/** Codec 8 Extended over TCP. */
export const teltonikaExtended = stream('teltonika-8e', 0x8e)

/** Codec 8 over UDP. */
export const teltonikaUdp: DatagramSpeech = {
  name: 'teltonika-udp',
  protocol: 'teltonika',
  transport: 'udp',
  maxFixes: 20,
  packet: datagram,
}

function stream(name: string, codec: Codec): StreamSpeech {
  return {
    name,
    protocol: 'teltonika',
    transport: 'tcp',
    maxFixes: 20,
    login,
    packet: (fixes) => packet(fixes, codec),
    answers: answerLength,
  }
}

/** A login has an answer of one byte, 01 or 00; a packet one of four bytes, the first of which is 00. */
function answerLength(bytes: Buffer): number {
  if (bytes[0] === 1) return 1
  return bytes.length < 4 ? 0 : 4
}

function login(id: string): Packet {
  const bytes = new ByteWriter().u16(id.length).ascii(id).toBuffer()
  return { bytes, accepted: (answer) => answer.length === 1 && answer[0] === 1 }
}

/** `00000000 length codec n record… n crc`. */
function packet(fixes: readonly Fix[], codec: Codec): Packet {
  const content = contentOf(fixes, codec)
  const bytes = new ByteWriter().u32(0).u32(content.length).bytes(content).u32(crc16Arc(content)).toBuffer()
  // If the answer has another number of records, the whole packet is sent again.
  return { bytes, accepted: (answer) => answer.length === 4 && answer.readUInt32BE() === fixes.length }
}

/** `length packet-id 01 avl-id imei-length imei codec n record… n`. */
function datagram(fixes: readonly Fix[], { id, serial }: PacketSender): Packet {
  const content = contentOf(fixes, 0x08)
  const bytes = new ByteWriter()
    .u16(6 + id.length + content.length)
    .u16(serial & 0xffff)
    .u8(1)
    .u8(serial & 0xff)
    .u16(id.length)
    .ascii(id)
    .bytes(content)
    .toBuffer()
  const expected = Buffer.of(0, 5, bytes[2], bytes[3], 1, bytes[5], fixes.length)
  return {
    bytes,
    accepted: (answer) => (answer.subarray(0, 6).equals(expected.subarray(0, 6)) ? answer.equals(expected) : undefined),
  }
}

function contentOf(fixes: readonly Fix[], codec: Codec): Buffer {
  const w = new ByteWriter().u8(codec).u8(fixes.length)
  for (const fix of fixes) writeRecord(w, fix, codec)
  return w.u8(fixes.length).toBuffer()
}

function writeRecord(w: ByteWriter, fix: Fix, codec: Codec): void {
  w.u64(fix.time).u8(PRIORITY_LOW)
  w.u32(Math.round(fix.longitude * 1e7)).u32(Math.round(fix.latitude * 1e7))
  w.u16(Math.round(fix.altitude ?? 0)).u16(Math.round(fix.heading ?? 0))
  w.u8(fix.satellites ?? 0).u16(kilometresPerHour(fix.speed))
  writeElements(w, fix, codec)
}

/** The event that made the record (0: time or distance), the number of elements, then those of 1, 2, 4 and 8 bytes. */
function writeElements(w: ByteWriter, fix: Fix, codec: Codec): void {
  const wide = codec === 0x8e
  const n = (value: number) => (wide ? w.u16(value) : w.u8(value))
  const hdop = Math.round((fix.hdop ?? 0) * 10)
  const moving = (fix.speed ?? 0) > 0 ? 1 : 0
  n(0)
  n(8)
  n(4)
  n(IGNITION).u8(1)
  n(MOVEMENT).u8(moving)
  n(GSM_SIGNAL).u8(4)
  n(GNSS_STATUS).u8(1)
  n(4)
  n(PDOP).u16(Math.round(hdop * 1.6))
  n(HDOP).u16(hdop)
  n(EXTERNAL_VOLTAGE).u16(13_850)
  n(SPEED).u16(kilometresPerHour(fix.speed))
  n(0)
  n(0)
  if (wide) n(0)
}

const PRIORITY_LOW = 0
const IGNITION = 239
const MOVEMENT = 240
const GSM_SIGNAL = 21
const GNSS_STATUS = 69
const PDOP = 181
const HDOP = 182
const EXTERNAL_VOLTAGE = 66
const SPEED = 24
