import { ByteWriter } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const ID = '860675040000777'

function packet(content: Buffer): Buffer {
  const id = new ByteWriter().u64le(Number(ID)).toBuffer()
  const w = new ByteWriter().hex('ababff8f0300000100000100').bytes(id)
  return w.u32le(content.length).u32(0).bytes(content).toBuffer()
}

function float(value: number): string {
  const bits = Buffer.alloc(4)
  bits.writeFloatLE(value)
  return bits.toString('hex')
}

const SECONDS = new ByteWriter()
  .u32le(Date.UTC(2024, 4, 1, 23, 15, 30) / 1000)
  .toBuffer()
  .toString('hex')
const PLACE = `0d ${float(52.5)} 15 ${float(-13.5)} 45 ${SECONDS}`
const ALL = `${PLACE} 1d ${float(34)} 20 09 2d ${float(36)} 35 ${float(270.5)} 38 06 48 01 5a 02 050a 61 0000000000000000`
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.5, longitude: -13.5 }
const ACK = bytes('ababff8f0300 0000 0200 02000000 00000000 0801')

/** A position as field 1. */
function field(text: string): Buffer {
  const content = bytes(text)
  return Buffer.concat([Buffer.of(0x0a, content.length), content])
}

export default {
  costly: {
    'many positions': packet(Buffer.concat(Array.from({ length: 3500 }, () => field(PLACE)))),
    'long integers': packet(Buffer.alloc(65_000, 0x80)),
  },
  frames: [
    {
      title: 'positions with all fields and with those that are needed',
      frames: [
        {
          frame: packet(Buffer.concat([field(ALL), field(PLACE)])),
          device: ID,
          fixes: [{ ...FIX, altitude: 34, satellites: 9, speed: 10, heading: 270.5, hdop: 6 }, FIX],
          reply: ACK,
        },
        { frame: packet(bytes('1001')), device: ID, none: 'no place', reply: ACK },
        {
          frame: packet(Buffer.concat([field('2009'), field(PLACE)])),
          device: ID,
          fixes: [FIX],
          unreadable: [0],
          reply: ACK,
        },
        { frame: packet(field('2009')), error: 'malformed', envelope: { device: ID, reply: ACK } },
        { frame: packet(field(PLACE.replace(float(52.5), '0000c07f'))), error: 'malformed' },
        { frame: packet(bytes('0b')), error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases
