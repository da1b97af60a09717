import { kmh, TextWriter } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = {
  time: '2026-11-20T15:00:10Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34,
  speed: kmh(36),
  heading: 270,
  satellites: 9,
  hdop: 0.9,
}

export default {
  costly: { commas: frame(`000${many(',')}`), digits: frame(`000,0,,261120150010,A,${many('1')}`) },
  frames: [
    {
      title: 'positions and other reports',
      frames: [
        {
          frame: frame(
            '000,0,,261120150010,A,52.525000,-13.410000,9,0.9,36,270,34,1560,520|4|A418|008AAC3F,31,000000BD,02,00,04E3|0171,131,,',
          ),
          device: ID,
          fixes: [
            {
              ...FIX,
              said: { ignition: true, moving: false, external_voltage: 12.51, battery_voltage: 3.69 },
            },
          ],
        },
        {
          frame: frame(
            '000,0,,261120150010,A,52.525000,-13.410000,9,0.9,36,270,34,1560,520|4|A418|008AAC3F,31,0000009D,02,00,04E3|0171,131,,,,2400  2  31000417  10600  ?',
          ),
          device: ID,
          fixes: [
            {
              ...FIX,
              said: {
                ignition: true,
                moving: true,
                external_voltage: 12.51,
                battery_voltage: 3.69,
                driver: '2400  2  31000417  10600  ?',
              },
            },
          ],
        },
        {
          frame: frame('000,53,8F5300,261120150010,V,52.525000,-13.410000,0,0.0,0,0,34,1560'),
          device: ID,
          fixes: [
            {
              ...FIX,
              valid: false,
              satellites: 0,
              hdop: undefined,
              speed: 0,
              heading: 0,
              said: { driver: '8F5300' },
            },
          ],
        },
        {
          frame: frame(
            '000,18,,261120150010,A,52.525000,-13.410000,9,0.9,36,270,34,1560,520|4|A418|008AAC3F,31,0000001D,00,00,0000|017D,1,,',
          ),
          device: ID,
          fixes: [
            {
              ...FIX,
              said: {
                ignition: false,
                moving: true,
                external_voltage: 0,
                battery_voltage: 3.81,
                alarms: ['power_cut'],
              },
            },
          ],
        },
        { frame: frame('710,T1,0.0\r\nT2,0.000'), device: ID, none: 'status' },
        { frame: frame('129,OK'), device: ID, none: 'command answer' },
        { frame: frame('020,1'), device: ID, fixes: [] },
        { frame: frame('129,OK').replace('OK', 'KK'), error: 'checksum' },
      ],
    },
  ],
} satisfies ProtocolCases

function frame(rest: string): string {
  const text = `,${ID},${rest}`
  return new TextWriter().text(`&&L${text.length}${text}`).sum8().text('\r\n').toBuffer().toString('latin1')
}
