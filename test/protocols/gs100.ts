import { ByteWriter } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '862462032000777'
const RECORD = '16 900000 231530 010524 013246000c 52315000 03600270'
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: 10, heading: 270 }
const LOGIN = new ByteWriter().ascii('GLI').u8(15).ascii(ID).u8(2).ascii('89').u8(3).ascii('1.0').toBuffer()

export default {
  costly: {
    'a login without end': Buffer.concat([Buffer.from('GLI'), Buffer.alloc(COSTLY_SIZE, 0xff)]),
    'many positions': bytes(`4744ff${RECORD.repeat(255)}`),
  },
  frames: [
    {
      title: 'a login and positions',
      frames: [
        { frame: LOGIN, device: ID, none: 'login', reply: 'GS100' },
        { frame: bytes(`4744 02 ${RECORD} ${RECORD}`), fixes: [FIX, FIX], reply: bytes('475331303002') },
        {
          frame: bytes(`4744 01 ${RECORD.replace('03600270', 'fffff270')}`),
          fixes: [{ ...FIX, speed: undefined }],
          reply: bytes('475331303001'),
        },
        { frame: bytes('4744 00'), none: 'no place', reply: bytes('475331303000') },
        {
          frame: bytes('4744 01 03 900000'),
          error: 'truncated',
          envelope: { reply: bytes('475331303001') },
        },
        {
          frame: bytes(`4744 02 03 900000 ${RECORD}`),
          fixes: [FIX],
          unreadable: [0],
          reply: bytes('475331303002'),
        },
      ],
    },
  ],
} satisfies ProtocolCases
