import { ByteWriter, knots } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const SECONDS = Date.UTC(2024, 4, 1, 23, 15, 30) / 1000

/** An envelope whose checksum is that of all in front of the asterisk. */
function packet(kind: string, content: Buffer | ByteWriter): Buffer {
  const body = Buffer.isBuffer(content) ? content : content.toBuffer()
  return closed(new ByteWriter().ascii(kind).u16le(body.length).bytes(body))
}

function closed(w: ByteWriter): Buffer {
  const sum = w.toBuffer().reduce((all, byte) => all ^ byte, 0)
  return w.ascii(`*${sum.toString(16).toUpperCase().padStart(2, '0')}\r\n`).toBuffer()
}

/** 52° 31.5′ N, 13° 24.6′ E, 10 kn, 270°, 30 m, 9 satellites. */
const record = (flags: string) => bytes(`${flags}90 0d34 1860 0c7b 0a87 0000 0000000000 03 0000`)
const FIX = {
  time: '2024-05-01T23:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  altitude: 30,
  speed: knots(10),
  heading: 270,
  satellites: 9,
}
const ONE = new ByteWriter().u16le(777).u32le(SECONDS).bytes(record('b0'))
const EMPTY = new ByteWriter().u16le(777).u32le(SECONDS).bytes(Buffer.alloc(20, 0xfe))
const archive = (...records: readonly Buffer[]) =>
  new ByteWriter().u16le(777).hex('04013005').u32le(SECONDS).bytes(Buffer.concat(records)).hex('1400')
const CURRENT = closed(new ByteWriter().ascii('BB+UGRC~').u16le(6).u32le(SECONDS).u16le(777))
const ARCHIVED = closed(new ByteWriter().ascii('BB+ARCF~').u16le(4).hex('3005').u16le(777))

export default {
  costly: {
    'many records': packet('+DDAT~', archive(Buffer.alloc(COSTLY_SIZE - 600, record('b0')))),
    'a long line': Buffer.alloc(COSTLY_SIZE, 'a'),
  },
  frames: [
    {
      title: 'a position, an archive, records without a position, lines of text',
      frames: [
        { frame: packet('+RRCB~', ONE), device: '777', fixes: [FIX], reply: CURRENT },
        { frame: packet('+RRCB~', EMPTY), device: '777', none: 'no place', reply: CURRENT },
        {
          frame: packet('+DDAT~', archive(record('b0'), Buffer.alloc(20, 0xfe), record('08'))),
          device: '777',
          fixes: [FIX, { ...FIX, time: '2024-05-01T23:16:10Z', valid: false }],
          reply: ARCHIVED,
        },
        { frame: packet('+DDAT~', archive(Buffer.alloc(20, 0xfe))), device: '777', none: 'no place', reply: ARCHIVED },
        {
          frame: packet('+RRCB~', new ByteWriter().u16le(777).u32le(SECONDS).hex('b090')),
          error: 'truncated',
          envelope: { device: '777', reply: CURRENT },
        },
        { frame: packet('+DDAT~', archive()), device: '777', none: 'no place', reply: ARCHIVED },
        { frame: '+IDNT: Navigator.04x *21\r\n', none: 'text' },
        { frame: 'ERROR WRONG CHECKSUM_1\r\n', none: 'text' },
      ],
    },
  ],
} satisfies ProtocolCases
