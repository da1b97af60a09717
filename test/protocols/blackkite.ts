import { ByteWriter, crc16Modbus } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const ID = '861234567890123'
const IMEI = `03${Buffer.from(ID).toString('hex')}`
const TIME = new ByteWriter()
  .u32le(Date.UTC(2024, 4, 1, 23, 15, 30) / 1000)
  .toBuffer()
  .toString('hex')
const PLACE = new ByteWriter().u32le(52_525_000).u32le(13_410_000).toBuffer().toString('hex')
const record = (source: string) => `20 ${TIME} 30 ${source}9 ${PLACE} 33 6801910a 34 2200 40 0000 51 0000`
const FIX = {
  time: '2024-05-01T23:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  speed: 10,
  heading: 270.5,
  altitude: 34,
  satellites: 9,
}

function packet(content: string): Buffer {
  const body = bytes(content)
  return new ByteWriter().u8(1).u16le(body.length).bytes(body).crc16le(crc16Modbus).toBuffer()
}

/** A packet with its answer. */
const answered = (content: string) => {
  const frame = packet(content)
  return { frame, reply: Buffer.concat([Buffer.of(2), frame.subarray(-2)]) }
}

const short = answered(`${IMEI} 30 09`)
const truncated = { frame: short.frame, error: 'truncated', envelope: { device: ID, reply: short.reply } } as const

export default {
  costly: {
    'places without end': packet('30090000000000000000'.repeat(3270)),
    'tags without end': packet('400000'.repeat(10_000)),
  },
  frames: [
    {
      title: 'a head, two records, an unknown tag',
      frames: [
        { ...answered(`${IMEI} 20 ${TIME}`), device: ID, none: 'no place' },
        { ...answered(`${IMEI} ${record('0')} ${record('1')}`), device: ID, fixes: [FIX, { ...FIX, valid: false }] },
        { ...answered(`${record('0')} ff00`), fixes: [FIX], unreadable: [1] },
        { ...answered('ff00'), fixes: [] },
        truncated,
      ],
    },
  ],
} satisfies ProtocolCases
