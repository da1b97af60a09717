import { bytes, type Gt06Position, gt06Flags, gt06Frame, gt06Gps, gt06Place, u } from '../support/encode.ts'
import { COSTLY_SIZE, many, type ProtocolCases } from '../support/protocol-cases.ts'

export const IMEI = '356307042441013'

export const POSITION: Gt06Position = {
  date: '261120063015',
  latitude: 54.687205,
  longitude: -25.27973,
  satellites: 9,
  speed: 54,
  heading: 214,
}
const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 54.687205,
  longitude: -25.27973,
  speed: 15,
  heading: 214,
  satellites: 9,
}
const MODULE = Buffer.concat([
  u(4, Date.parse(FIX.time) / 1000),
  bytes('09 fff4'),
  gt06Place(POSITION),
  Buffer.of(54),
  gt06Flags(POSITION),
])
const CELL = bytes('01cc 00 287d 001fb8')

const answer = (type: number, serial: number) => gt06Frame(type, Buffer.alloc(0), { serial })

export default {
  costly: {
    'modules without content': Buffer.concat([bytes('7979ffff70'), Buffer.alloc(COSTLY_SIZE)]),
    'starts without end': many('\x78'),
  },
  frames: [
    {
      title: 'a login and positions',
      frames: [
        {
          frame: gt06Frame(0x01, bytes(`0${IMEI}`)),
          device: IMEI,
          none: 'login',
          reply: answer(0x01, 1),
        },
        {
          frame: gt06Frame(0x22, Buffer.concat([gt06Gps(POSITION), CELL, bytes('010000')]), { serial: 0x1234 }),
          fixes: [FIX],
          reply: answer(0x22, 0x1234),
        },
        {
          frame: gt06Frame(0x12, Buffer.concat([gt06Gps({ ...POSITION, fixed: false }), CELL]), { serial: 3 }),
          fixes: [{ ...FIX, valid: false }],
          reply: answer(0x12, 3),
        },
        {
          frame: gt06Frame(
            0x70,
            Buffer.concat([bytes('0000000102 0035 0001 01 0033 0012'), MODULE, bytes('0028 0001 0d 002c 0002 0102')]),
            { long: true, serial: 7 },
          ),
          fixes: [{ ...FIX, altitude: -12, hdop: 1.3 }],
          reply: answer(0x70, 7),
        },
      ],
    },
  ],
  exceptions: {
    'gt06-051': 'cells with a date under type 19 are answered as the specification has it, where the peer is silent',
    'gt06-119': 'the offer of a photo is answered, but the photo not asked for',
    'gt06-161': 'a heartbeat of the ZX303 family has neither the serial number nor the checksum that an answer needs',
  },
} satisfies ProtocolCases
