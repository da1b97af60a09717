import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const PLACE = '261120182813,E13.410000,S52.520000,34,36,270,9,0,00'
const FIX = {
  time: '2026-11-20T18:28:13Z',
  latitude: -52.52,
  longitude: 13.41,
  altitude: 34,
  speed: kmh(36),
  heading: 270,
  satellites: 9,
}

export default {
  costly: { commas: `%RP,1:0${many(',')}\n`, 'one number': `%RP,1:0,261120182813,E${many('1')}\n` },
  frames: [
    {
      title: 'a serial number and positions',
      frames: [
        {
          frame: '%SN,042:0,0,140117041203,404\r\n',
          device: '042',
          none: 'login',
          reply: '%AT+SN=:0,0,140117041203,404',
        },
        { frame: `%RP,042:0,${PLACE}\r\n`, device: '042', fixes: [FIX] },
        { frame: `%KP,042:1,${PLACE};\r\n`, device: '042', fixes: [FIX], reply: '%AT+KP=1\r\n' },
        { frame: '%XX,1\r\n' },
      ],
    },
  ],
} satisfies ProtocolCases
