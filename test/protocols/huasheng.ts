import { ByteWriter } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '862950028000777'

/** A message, whose only bytes to escape are those that `content` writes as dbdc and dbdd. */
function message(type: string, content: string, escapes = 0): Buffer {
  const body = bytes(content)
  const w = new ByteWriter()
    .u8(0xc0)
    .u16(0)
    .u16(12 + body.length - escapes)
  return w.hex(`${type}000000000102`).bytes(body).u8(0xc0).toBuffer()
}

const TIME = Buffer.from('240501231530').toString('hex')
const PLACE = '00147648 00502594 0024 010e 0022 0001'
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: 10, heading: 270, altitude: 34 }
const OFF = { ignition: false }
const POSITIONED = bytes('c0 0100 000c ff01 0000 00000102 c0')

export default {
  costly: {
    'empty values': message('aa00', `80000000 ${TIME} ${PLACE} ${'00010004'.repeat(16_000)}`),
    escapes: Buffer.concat([Buffer.of(0xc0), Buffer.alloc(COSTLY_SIZE, 'dbdc', 'hex'), Buffer.of(0xc0)]),
  },
  frames: [
    {
      title: 'a login and positions',
      frames: [
        {
          frame: message('aa02', `0001 0005 47 0003 0013 ${Buffer.from(ID).toString('hex')}`),
          device: ID,
          none: 'login',
          reply: bytes('c0 0100 000d ff03 0000 00000102 00 c0'),
        },
        { frame: message('aa00', `80000000 ${TIME} ${PLACE}`), fixes: [{ ...FIX, said: OFF }], reply: POSITIONED },
        {
          frame: message('aa00', `dbdc000000 ${TIME} ${PLACE} 0001 0006 dbdddbdc 0005 0006 0d08`, 3),
          fixes: [{ ...FIX, hdop: 8, said: { ignition: true } }],
          reply: POSITIONED,
        },
        {
          frame: message('aa00', `80000000 ${TIME} ${PLACE} 0001 0010 7703f800004600000000 0aad`),
          fixes: [{ ...FIX, said: { ignition: false, external_voltage: 27.33 } }],
          reply: POSITIONED,
        },
        {
          frame: message('aa00', `48000000 ${TIME} ${PLACE}`),
          fixes: [{ ...FIX, valid: false, said: { ignition: true } }],
          reply: POSITIONED,
        },
      ],
    },
    {
      title: 'no position',
      frames: [
        {
          frame: message('aa00', `00000000 ${Buffer.from('197001011402').toString('hex')} ${'00'.repeat(18)}`),
          none: 'no date',
          said: OFF,
          reply: POSITIONED,
        },
        {
          frame: message('aa00', `00000000 ${Buffer.from('199901011402').toString('hex')} ${'00'.repeat(18)}`),
          none: 'no date',
          said: OFF,
          reply: POSITIONED,
        },
        { frame: message('0060', '00060001') },
        { frame: message('aa12', '00060001'), reply: bytes('c0 0100 000c ff13 0000 00000102 c0') },
        {
          frame: message('aa02', '0001000547'),
          error: 'malformed',
          envelope: { reply: bytes('c0 0100 000d ff03 0000 00000102 00 c0') },
        },
        { frame: message('aa00', '8000'), error: 'truncated', envelope: { reply: POSITIONED } },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the clock was never set: the date is 1970-01-01 14:02, not the month 70 of 2019',
      frames: ['huasheng-014'],
      says: { positions: [] },
    },
  ],
} satisfies ProtocolCases
