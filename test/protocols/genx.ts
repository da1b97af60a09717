import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const LINE = '000036001234,11/20/2026 06:30:15,52.525,-13.41,54,270,118,9'
const FIX = { time: '2026-11-20T06:30:15Z', latitude: 52.525, longitude: -13.41 }
const ALL = { ...FIX, speed: 15, heading: 270, altitude: 35.9664, satellites: 9 }

export default {
  costly: { 'fields without content': `000036001234${many(',')}` },
  frames: [
    {
      title: 'a report without the setting',
      frames: [
        { frame: `${LINE}\r\n`, device: '000036001234', fixes: [FIX] },
        { frame: '000036001234,11/20/2026 06:30:15,,\r\n', device: '000036001234', none: 'no place' },
        { frame: '000036001234,20/11/2026 06:30:15,1,2\r\n', error: 'malformed' },
        { frame: '000036001234,2026,1,2\r\n', error: 'malformed' },
        { frame: 'hello\r\n', error: 'unsupported' },
      ],
    },
    {
      title: 'reports with its columns',
      settings: { reportColumns: [28, 2, 3, 4, 13, 17, 27, 46] },
      frames: [{ frame: `${LINE}\r\n`, device: '000036001234', fixes: [ALL] }],
    },
    {
      title: 'a column of the ignition',
      settings: { reportColumns: [1, 2, 3, 4, 11] },
      frames: [
        {
          frame: '000036001234,11/20/2026 06:30:15,52.525,-13.41,OFF\r\n',
          device: '000036001234',
          fixes: [{ ...FIX, said: { ignition: false } }],
        },
        {
          frame: '000036001234,11/20/2026 06:30:15,52.525,-13.41,ON\r\n',
          device: '000036001234',
          fixes: [{ ...FIX, said: { ignition: true } }],
        },
      ],
    },
    {
      title: 'columns as text',
      settings: { reportColumns: '[1, 2, 3, 4, 13]' },
      frames: [{ frame: `${LINE}\r\n`, device: '000036001234', fixes: [{ ...FIX, speed: 15 }] }],
    },
  ],
} satisfies ProtocolCases
