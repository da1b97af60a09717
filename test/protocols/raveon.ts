import { kmh, xor } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const signed = (text: string) => `$${text}*${xor(Buffer.from(text)).toString(16).padStart(2, '0')}\r\n`

export default {
  costly: { commas: signed(`PRAVE,1,1${many(',')}`), 'one number': signed(`PRAVE,1,1,${many('1')}`) },
  wrongChecksums:
    "it is the example of the technical manual with one more field; the manual's own checksum, 66, does not fit it either. It names the NMEA 0183 checksum, which fits the sentence of a real transponder below",
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: '$PRAVE,0002,0001,3308.9037,-11713.1167,165919,2,9,184,25,12.7,0,-95,0,0,,*76\r\n',
          device: '0002',
          fixes: [
            {
              time: '2026-11-20T16:59:19Z',
              latitude: 33.148395,
              longitude: -117.218612,
              altitude: 184,
              satellites: 9,
              speed: 0,
              heading: 0,
              said: { external_voltage: 12.7 },
            },
          ],
        },
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
              said: { external_voltage: 13.3 },
            },
          ],
        },
        {
          frame: signed('PRAVE,0042,0001,5231.5000,-01324.6000,115348,1,10,34,31,13.3V,3,-83,36,270,'),
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
