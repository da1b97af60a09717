import { crc16CcittFalse } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

/** `kind`: the command, and the serial number. */
function frame(kind: string, content: Buffer): Buffer {
  const covered = Buffer.concat([bytes(`03 ${kind} 0861045080000017`), content])
  return Buffer.concat([bytes('fc'), u(2, covered.length), covered, u(2, crc16CcittFalse(covered)), bytes('cf')])
}

function block(tag: string, value: Buffer): Buffer {
  return Buffer.concat([bytes(tag), u(1, value.length), value])
}

const PLACE = Buffer.alloc(20)
PLACE.writeDoubleBE(52.525, 0)
PLACE.writeDoubleBE(-13.41, 8)
PLACE.writeFloatBE(34.5, 16)
const NO_PLACE = Buffer.alloc(20, 0xff)
const gps = (place: Buffer, behind: string) =>
  block('64', Buffer.concat([u(4, 1714558530), place, bytes('1a08'), bytes(behind)]))
const STATE = block('6a', bytes('55ffff1f0000'))
const CELLS = block('66', bytes('000000010302'))
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, altitude: 34.5, satellites: 8 }
const said = { battery_percent: 85 }
const answer = (kind: string) => ({ device: '861045080000017', reply: frame(kind, bytes('00')) })
const join = (...parts: readonly Buffer[]) => Buffer.concat(parts)

export default {
  costly: { 'blocks without content': frame('2006', Buffer.alloc(COSTLY_SIZE - 100, 0x66)) },
  frames: [
    {
      title: 'a login, positions whatever the serial number is, and a command that is not known',
      frames: [
        { frame: frame('2001', Buffer.alloc(0)), none: 'login', ...answer('2001') },
        { frame: frame('2006', gps(PLACE, '')), fixes: [FIX], ...answer('2006') },
        {
          frame: frame('2027', join(gps(PLACE, '0000 00a4 0011 04'), STATE)),
          fixes: [{ ...FIX, said }],
          ...answer('2027'),
        },
        {
          frame: frame('20e8', join(gps(PLACE, '19 001c 009f 000e 00'), CELLS, gps(PLACE, ''))),
          fixes: [FIX, FIX],
          ...answer('20e8'),
        },
        { frame: frame('2106', gps(PLACE, '')), ...answer('2106') },
      ],
    },
    {
      title: 'blocks without a place',
      frames: [
        {
          frame: frame('2007', join(gps(NO_PLACE, '00 0641 0000 0691 3c'), CELLS, STATE)),
          none: 'no fix',
          said,
          ...answer('2007'),
        },
        { frame: frame('2008', STATE), none: 'status', said, ...answer('2008') },
        { frame: frame('2009', join(STATE, block('70', PLACE))), ...answer('2009') },
        { frame: frame('200a', bytes('6421')), error: 'truncated', envelope: answer('200a') },
      ],
    },
  ],
} satisfies ProtocolCases
