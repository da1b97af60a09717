import { kmh, xor } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const signed = (text: string) => `$${text}*${xor(Buffer.from(text)).toString(16).padStart(2, '0')}\r\n`

export default {
  costly: { commas: signed(`PRAVE,1,1${many(',')}`), 'one number': signed(`PRAVE,1,1,${many('1')}`) },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: signed('PRAVE,0042,0001,5231.5000,-01324.6000,115348,1,10,34,31,13.3,3,-83,36,270,,1003.4'),
          device: '0042',
          fixes: [
            {
              time: '2026-11-20T11:53:48Z',
              latitude: 52.525,
              longitude: -13.41,
              altitude: 34,
              satellites: 10,
              speed: kmh(36),
              heading: 270,
            },
          ],
        },
        { frame: signed('PRAVE,0042,1'), device: '0042', fixes: [] },
      ],
    },
  ],
} satisfies ProtocolCases
