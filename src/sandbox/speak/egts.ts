/*
 * EGTS terminals that name themselves by their IMEI. Packets as drawn in protocols/egts: a packet has a record for each fix,
 * and each record is answered by its number.
 */
import { ByteWriter, crc8Egts, crc16CcittFalse, type Fix } from '../../../protocols/kit/index.ts'
import type { StreamSpeech } from './speech.ts'

/** An authentication, then packets of records. */
export const egts: StreamSpeech = {
  name: 'egts',
  protocol: 'egts',
  transport: 'tcp',
  maxFixes: 20,
  login: (id) => ({
    bytes: packet(0, record(0, AUTHENTICATION, subrecord(TERMINAL, new ByteWriter().u32(0).u8(HAS_IMEI).ascii(id)))),
    accepted: (answer) => (answer[TYPE] === APPLICATION ? answer[RESULT_CODE] === 0 : undefined),
  }),
  packet(fixes, { serial }) {
    const number = (index: number) => (serial * egts.maxFixes + index) & 0xffff
    const records = fixes.map((fix, index) => record(number(index), TELEMATICS, positionOf(fix)))
    return {
      bytes: packet(serial & 0xffff, Buffer.concat(records)),
      accepted(answer) {
        if (answer[TYPE] !== RESPONSE || answer.length <= ANSWERED_RESULT) return undefined
        if (answer.readUInt16LE(ANSWERED_PACKET) !== (serial & 0xffff)) return undefined
        if (answer[ANSWERED_RESULT] !== 0) return false
        return answer.readUInt16LE(ANSWERED_RECORD) === number(fixes.length - 1) || undefined
      },
    }
  },
  answers: answerLength,
}

/** The length of an answer: the header, the data, and the checksum of the data if there are any. */
function answerLength(bytes: Buffer): number {
  if (bytes.length < 7) return 0
  const data = bytes.readUInt16LE(5)
  const length = bytes[3] + (data === 0 ? 0 : data + 2)
  return bytes.length < length ? 0 : length
}

const HEADER = 11
const RESPONSE = 0
const APPLICATION = 1
const AUTHENTICATION = 1
const TELEMATICS = 2
const TERMINAL = 0x01
const HAS_IMEI = 2
const POSITION = 0x10
const EXTENDED = 0x11

/** Indexes in answers. */
const TYPE = 9
const ANSWERED_PACKET = 11
const ANSWERED_RECORD = 24
const ANSWERED_RESULT = 26
const RESULT_CODE = 21

function packet(number: number, data: Buffer): Buffer {
  const w = new ByteWriter().bytes([1, 0, 0, HEADER, 0]).u16le(data.length).u16le(number).u8(APPLICATION).sum(crc8Egts)
  return w.bytes(data).crc16le(crc16CcittFalse, HEADER).toBuffer()
}

function record(number: number, service: number, content: Buffer): Buffer {
  return new ByteWriter().u16le(content.length).u16le(number).bytes([0, service, service]).bytes(content).toBuffer()
}

function subrecord(type: number, content: ByteWriter): Buffer {
  return new ByteWriter().u8(type).u16le(content.length).bytes(content.toBuffer()).toBuffer()
}

function positionOf(fix: Fix): Buffer {
  const { latitude, longitude, altitude = 0, heading = 0 } = fix
  const course = Math.round(heading)
  const speed = Math.round((fix.speed ?? 0) * 36) | (altitude < 0 ? 0x4000 : 0) | (course > 255 ? 0x8000 : 0)
  const height = Math.round(Math.abs(altitude))
  const position = new ByteWriter()
    .u32le((fix.time - EPOCH) / 1000)
    .u32le(Math.round((Math.abs(latitude) / 90) * FULL_SCALE))
    .u32le(Math.round((Math.abs(longitude) / 180) * FULL_SCALE))
    .u8(FIXED | (latitude < 0 ? SOUTH : 0) | (longitude < 0 ? WEST : 0))
    .u16le(speed)
    .u8(course & 0xff)
    .bytes([0, 0, 0, 0, 0])
    .u16le(height & 0xffff)
    .u8(height >> 16)
  const quality = new ByteWriter().u8(HAS_HDOP | HAS_SATELLITES).u16le(Math.round((fix.hdop ?? 1) * 100))
  return Buffer.concat([subrecord(POSITION, position), subrecord(EXTENDED, quality.u8(fix.satellites ?? 0))])
}

const EPOCH = Date.UTC(2010, 0, 1)
const FULL_SCALE = 0xffff_ffff
/** Valid, moving, with an altitude. */
const FIXED = 0x91
const SOUTH = 0x20
const WEST = 0x40
const HAS_HDOP = 2
const HAS_SATELLITES = 8
