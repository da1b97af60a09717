import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: { commas: `183457.999,${many(',')}\n`, 'one number': `183457.999,${many('1')}\n` },
  frames: [
    {
      title: 'a login and a position',
      frames: [
        { frame: `a=connect&v=11&i=${ID}\r\n`, device: ID, none: 'login', reply: '=OK=\r\n' },
        {
          frame: '083457.999,5231.5000N,01324.6000W,0.9,34.5,3,270,23.15,12.5,201126,05\r\n',
          reply: '=OK=\r\n',
          fixes: [
            {
              time: '2026-11-20T08:34:57.999Z',
              latitude: 52.525,
              longitude: -13.41,
              hdop: 0.9,
              altitude: 34.5,
              heading: 270,
              speed: knots(12.5),
              satellites: 5,
            },
          ],
        },
        { frame: '083457.999,,,,,0,,,,201126,00\r\n', reply: '=OK=\r\n', none: 'no place' },
        { frame: ',,,,,1,,,,,\r\n', reply: '=OK=\r\n', none: 'no place' },
        { frame: 'a=ping&v=11\r\n', reply: '=OK=\r\n' },
        { frame: 'b=1\r\n', error: 'unsupported' },
      ],
    },
  ],
} satisfies ProtocolCases
