import { ByteWriter, crc16Xmodem } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34.5,
  heading: 270,
  speed: 10,
  satellites: 9,
}

export default {
  costly: { 'a position and more': report(1, 9, '00'.repeat(65_000)) },
  frames: [
    {
      title: 'reports, with an answer and without',
      frames: [
        { frame: report(0x41, 9), device: '935289398', fixes: [FIX], reply: answer(report(0x41, 9)) },
        {
          frame: dated(report(0x41, 9), 13),
          error: 'malformed',
          envelope: { device: '935289398', reply: answer(dated(report(0x41, 9), 13)) },
        },
        { frame: report(0x01, 0), device: '935289398', fixes: [{ ...FIX, satellites: 0, valid: false }] },
      ],
    },
  ],
} satisfies ProtocolCases

function report(flags: number, satellites: number, more = ''): Buffer {
  const w = new ByteWriter().ascii('PW').u8(0).u8(flags).u32(935_289_398).hex('235a0331').u32le(52_315_000)
  w.u32le(-13_246_000).u16le(345).u16le(270).u16le(360).hex('1805010a0f1e').u8(satellites).hex('0b010100051100000000')
  return w.hex('0282050000008c0300').hex(more).u8(7).crc16le(crc16Xmodem).toBuffer()
}

/** The same report of a month. */
function dated(sent: Buffer, month: number): Buffer {
  const changed = Buffer.from(sent.subarray(0, -2))
  changed[27] = month
  return new ByteWriter().bytes(changed).crc16le(crc16Xmodem).toBuffer()
}

function answer(sent: Buffer): Buffer {
  return Buffer.from([0x2a, ...sent.subarray(-2), 7])
}
