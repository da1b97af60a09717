import { createCipheriv } from 'node:crypto'
import { ByteWriter } from '../../protocols/kit/index.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'
import { eachPosition, eachSaid } from '../support/vectors/corrections.ts'

const ID = '356307042441013'
const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 54.5,
  longitude: -25.25,
  altitude: 34.5,
  speed: 10,
  heading: 214.5,
  satellites: 9,
}
const { satellites: _, ...UNFIXED } = FIX
const KEY = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex')
const VECTOR = Buffer.from('0102030405060708090a0b0c0d0e0ff0', 'hex')
const HEAD = Buffer.from('01012f00000000000000000000000000', 'hex')
const FIRST = encrypted(Buffer.from('12345678000000000000000000000000', 'hex'), VECTOR)
const LOGIN = Buffer.concat([HEAD, Buffer.of(0), Buffer.from(ID), VECTOR, FIRST])
const ASKED = Buffer.from('88000000000000000000000000000000', 'hex')

/** An answer with records behind a block of the chain. */
function answer(records: readonly Buffer[], behind: Buffer): Buffer {
  const content = Buffer.concat(records)
  const filled = Buffer.concat([content, Buffer.alloc((16 - (content.length % 16)) % 16)])
  const head = new ByteWriter().u8(0x89).u32le(content.length).hex('0000000000000000000000').toBuffer()
  return Buffer.concat([head, encrypted(filled, behind)])
}

function encrypted(blocks: Buffer, vector: Buffer): Buffer {
  const cipher = createCipheriv('aes-128-cbc', KEY, vector).setAutoPadding(false)
  return Buffer.concat([cipher.update(blocks), cipher.final()])
}

function record(satellites: number): Buffer {
  const bytes = Buffer.alloc(63)
  bytes.writeBigUInt64LE(BigInt(Date.UTC(2026, 10, 20, 6, 30, 15) / 1000), 4)
  for (const [i, value] of [54.5, -25.25, 34.5, 36, 214.5].entries()) bytes.writeFloatLE(value, 12 + 4 * i)
  bytes[62] = satellites
  return bytes
}

const ONE = answer([record(9)], FIRST)
const NEXT = answer([record(9), record(0xff)], ONE.subarray(-16))
/** Longer than a part: 512 records are one. */
const LONG = answer(
  Array.from({ length: 600 }, () => record(9)),
  FIRST,
)
const many = (length: number) => Array.from({ length }, () => FIX)
const PART = 16 + 512 * 63

export default {
  costly: {
    'a login and an answer of noise': Buffer.concat([LOGIN, LONG.subarray(0, 16), Buffer.alloc(COSTLY_SIZE, 7)]),
    'empty answers': Buffer.alloc(COSTLY_SIZE, Buffer.from('89000000000000000000000000000000', 'hex')),
  },
  frames: [
    {
      title: 'a login, an answer without records, records; the chain goes on',
      frames: [
        { frame: LOGIN, device: ID, none: 'login', reply: ASKED },
        { frame: answer([], FIRST), none: 'no place' },
        { frame: ONE, fixes: [FIX] },
        { frame: NEXT, fixes: [FIX, { ...UNFIXED, valid: false }] },
        { frame: ONE, fixes: [FIX] },
        { frame: answer([Buffer.alloc(63, 1)], FIRST), error: 'malformed' },
      ],
    },
    {
      title: 'an answer that is taken in two parts',
      frames: [
        { frame: LOGIN, device: ID, none: 'login', reply: ASKED },
        { frame: LONG.subarray(0, PART), fixes: many(512) },
        { frame: LONG.subarray(PART), fixes: many(88) },
        { frame: ONE, fixes: [FIX] },
      ],
    },
    { title: 'records without a login', frames: [{ frame: ONE, error: 'unsupported' }] },
  ],
  corrections: [
    {
      reason: 'a byte that is 4 or 5 is a level and no voltage; a vehicle does not feed 0 V to a tracker that sends',
      says: eachSaid((each) => ({ ...each, batteryV: undefined, powerV: undefined })),
    },
    {
      reason: 'FF satellites at 0/0, with the clock of a device that was just switched on, are no fix',
      says: eachPosition(({ sat, valid }) => ({ valid: valid && sat !== 0xff })),
    },
  ],
} satisfies ProtocolCases
