import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const frame = (kind: number, content: string) =>
  Buffer.from(`[${String.fromCharCode(kind)}0000000042${String.fromCharCode(content.length)}${content}]`, 'latin1')
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, speed: knots(12.5) }

export default {
  costly: { digits: frame(0x90, `(${many('1')})`), id: frame(0xf0, many('1')) },
  frames: [
    {
      title: 'a login, positions of two kinds, cells and a type that is not known',
      frames: [
        { frame: frame(0xf0, '21315000'), device: '21315000', none: 'login', reply: frame(0xff, '21315000') },
        { frame: frame(0x80, '21315452'), device: '21315452', none: 'login' },
        { frame: frame(0x21, '(356307042441013,TK102,255,001)'), device: '356307042441013', none: 'login' },
        { frame: frame(0x21, '(x)') },
        { frame: frame(0x90, '(ONE101530A5231.5000N01324.6000W012.50001052400000000)'), fixes: [FIX] },
        {
          frame: frame(0x3d, '(ITV101530V5231.5000N01324.6000W012.5000105241001-LOW)'),
          fixes: [{ ...FIX, valid: false }],
        },
        { frame: frame(0x4c, '(GSM,0,0,07410001,20240501101530,404,010)'), none: 'cells' },
        { frame: frame(0x23, '(0621000000)') },
      ],
    },
  ],
} satisfies ProtocolCases
