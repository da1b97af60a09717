/* Eelink TK319 and similar devices, over TCP. Packets as drawn in protocols/eelink; each is answered by its serial number. */
import { ByteWriter, type Fix } from '../../../protocols/kit/index.ts'
import type { StreamSpeech } from './speech.ts'

/** A login, then a location for each fix. */
export const eelink: StreamSpeech = {
  name: 'eelink',
  protocol: 'eelink',
  transport: 'tcp',
  maxFixes: 20,
  login: (id) => ({
    // Language, time zone.
    bytes: packet(LOGIN, 0, Buffer.from(`0${id}0000`, 'hex')),
    accepted: (answer) => answer[2] === LOGIN || undefined,
  }),
  packet(fixes, { serial }) {
    const first = serial * eelink.maxFixes
    const last = packet(LOCATION, first + fixes.length - 1, Buffer.alloc(0))
    return {
      bytes: Buffer.concat(fixes.map((fix, index) => packet(LOCATION, first + index, locationOf(fix)))),
      accepted: (answer) => answer.equals(last) || undefined,
    }
  },
  answers: (bytes) => (bytes.length < 5 || bytes.length < 5 + bytes.readUInt16BE(3) ? 0 : 5 + bytes.readUInt16BE(3)),
}

const LOGIN = 0x01
const LOCATION = 0x12

/** `6767 type length serial body`. An answer to a location is one without a body. */
function packet(type: number, serial: number, body: Buffer): Buffer {
  return new ByteWriter()
    .u16(0x6767)
    .u8(type)
    .u16(2 + body.length)
    .u16(serial)
    .bytes(body)
    .toBuffer()
}

/** Returns a position followed by the status: fixed, engine on. */
function locationOf(fix: Fix): Buffer {
  return new ByteWriter()
    .u32(fix.time / 1000)
    .u8(GPS)
    .u32(Math.round(fix.latitude * 1.8e6))
    .u32(Math.round(fix.longitude * 1.8e6))
    .u16(Math.round(fix.altitude ?? 0))
    .u16(Math.round((fix.speed ?? 0) * 3.6))
    .u16(Math.round(fix.heading ?? 0))
    .u8(fix.satellites ?? 0)
    .u16(0x0003)
    .toBuffer()
}

/** Content of the location: no cells. */
const GPS = 1
