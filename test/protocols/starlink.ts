import { kmh, knots, TextWriter } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

const FIX = { time: '2026-11-20T15:00:10Z', latitude: 52.525, longitude: -13.41, heading: 270, valid: true }

export default {
  costly: {
    commas: `$SLU42,06,1${many(',')}*00\r\n`,
    'one number': `$SLU42,06,1,261120150010,01,261120150010,${many('1')}*00\r\n`,
  },
  frames: [
    {
      title: 'events in the usual format',
      settings: { format: '#EDT#,#EID#,#PDT#,#LAT#,#LONG#,#SPD#,#HEAD#,#ODO#,#ALT#,#SATU#' },
      frames: [
        {
          frame: line('$SLU42,06,7,261120150012,01,261120150010,+5231.5000,-01324.6000,012.5,270,048789,34,9'),
          device: '42',
          fixes: [{ ...FIX, speed: knots(12.5), altitude: 34, satellites: 9 }],
        },
        {
          frame: line('$SLU42,06,7,261120150012,01,261120150010,-5231.5000,-01324.6000,N/A,270,048789,x,9'),
          device: '42',
          fixes: [{ ...FIX, latitude: -52.525, satellites: 9 }],
        },
        { frame: line('$SLU42,06,8,261120150012,20,,,,,,000000'), device: '42', none: 'no place' },
        { frame: line('$SLU42,03,8,1'), device: '42' },
        { frame: '$SLU42,06,8,1*00\r\n', error: 'checksum' },
        { frame: line('$XYZ42,06,8,1'), error: 'unsupported' },
      ],
    },
    {
      title: 'events in another format',
      settings: { format: '#IMEI#,#EDT#,#SPDK#,#LONG#,#LAT#,#HEAD#' },
      frames: [
        {
          frame: line('$SLU42,06,7,356307042441013,2611201500,36,-01324.6000,+5231.5000,270'),
          device: '42',
          fixes: [{ ...FIX, time: '2026-11-20T15:00:00Z', speed: kmh(36) }],
        },
      ],
    },
    {
      title: 'voltages by their other names, and an accident',
      settings: { format: '#EDT#,#EID#,#PDT#,#V1#,#V2#,#IGNL#' },
      frames: [
        {
          frame: line('$SLU42,06,7,261120150012,41,261120150010,12.600,04.100,1'),
          device: '42',
          none: 'no place',
          said: { ignition: true, external_voltage: 12.6, battery_voltage: 4.1, alarms: ['accident'] },
        },
      ],
    },
    {
      title: 'what events say beside the position',
      settings: { format: '#EDT#,#EID#,#PDT#,#LAT#,#LONG#,#VIN#,#VBAT#,#BATC#,#IGN#,#ENG#' },
      frames: [
        {
          frame: line('$SLU42,06,7,261120150012,09,261120150010,+5231.5000,-01324.6000,00.213,03.407,75,1,0'),
          device: '42',
          fixes: [
            {
              ...FIX,
              heading: undefined,
              said: {
                ignition: true,
                external_voltage: 0.213,
                battery_voltage: 3.407,
                battery_percent: 75,
                alarms: ['power_cut'],
              },
            },
          ],
        },
        {
          frame: line('$SLU42,06,7,261120150012,20,,,,12.600,,,0,0,2,01000001FDB3A9,0000'),
          device: '42',
          none: 'no place',
          said: { ignition: false, external_voltage: 12.6, driver: '01000001FDB3A9' },
        },
        {
          frame: line('$SLU42,06,7,261120150012,20,,,,,,,,1,1,,1122'),
          device: '42',
          none: 'no place',
          said: { ignition: true, driver: '1122' },
        },
        {
          frame: line('$SLU42,06,7,261120150012,01,261320150010,+5231.5000,-01324.6000'),
          error: 'malformed',
          envelope: { device: '42' },
        },
      ],
    },
    {
      title: 'without the format',
      frames: [
        {
          frame: line(
            '$SLU42,06,7,261120150012,01,261120150010,+5231.5000,-01324.6000,012.5,270,048789,1,1,0,0,0,0,0,0,10422,36201,12.655,04.085,,1,0',
          ),
          device: '42',
          fixes: [
            {
              ...FIX,
              speed: knots(12.5),
              said: { ignition: true, external_voltage: 12.655, battery_voltage: 4.085 },
            },
          ],
        },
        { frame: line('$SLU42,06,7,1,2,3'), device: '42', fixes: [] },
        { frame: line('$SLU42,06,7,261120150012,20,,,,,,000000'), device: '42', fixes: [] },
        {
          frame: line('$SLU42,06,7,261120150012,01,261120150010,+5231.5000,-01324.6000,012.5,270,048789'),
          device: '42',
          fixes: [{ ...FIX, heading: undefined }],
        },
      ],
    },
  ],
  corrections: [
    {
      reason: 'IGN is the ignition, ENG whether the engine runs',
      frames: ['starlink-018'],
      says: eachSaid((said) => ({ ...said, ignition: true })),
    },
  ],
} satisfies ProtocolCases

function line(text: string): string {
  return new TextWriter()
    .text(text)
    .sum8(1)
    .text('\r\n')
    .toBuffer()
    .toString()
    .replace(/(..)\r\n$/, '*$1\r\n')
}
