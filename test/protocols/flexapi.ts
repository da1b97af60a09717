import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = 'VG7102026112001'
const PLACE = { time: 1_795_156_215, lat: -33.925, log: 18.4238 }
const FIX = { time: 1_795_156_215_000, latitude: -33.925, longitude: 18.4238 }

export default {
  costly: {
    'objects in objects': `\${"topic":"v1/${ID}/gnss/info","payload":${many('{"a":')}`,
    braces: `\${${many('}')}`,
  },
  frames: [
    {
      title: 'positions, states, an unknown subject',
      frames: [
        {
          frame: message('gnss', {
            ...PLACE,
            'gnss.altitude': 42.5,
            'gnss.speed': 54,
            'gnss.heading': 270,
            'gnss.hdop': 0.8,
            'gnss.fix': 4,
            'gnss.num_sv': 12,
          }),
          device: ID,
          fixes: [{ ...FIX, altitude: 42.5, speed: 15, heading: 270, hdop: 0.8, satellites: 12 }],
        },
        {
          frame: message('gnss', { ...PLACE, 'gnss.fix': 0 }),
          device: ID,
          fixes: [{ ...FIX, valid: false }],
        },
        { frame: message('gnss', { time: 1, lat: null, log: null }), device: ID, none: 'no place' },
        { frame: message('gnss', { ...PLACE, log: undefined }), device: ID, fixes: [] },
        { frame: message('io', { 'io.ts': 1 }), device: ID, none: 'status' },
        { frame: message('io', { 'io.IGT': 0 }), device: ID, none: 'status', said: { ignition: false } },
        { frame: message('obd', { 'obd.b_volt': 12.5 }), device: ID, none: 'status', said: { external_voltage: 12.5 } },
        { frame: message('weather', {}), device: ID },
        { frame: '${"topic":"v2/x"}00\r\n', error: 'unsupported' },
        { frame: '${"topic"}00\r\n', error: 'malformed' },
        { frame: 'hello\r\n', error: 'unsupported' },
      ],
    },
  ],
} satisfies ProtocolCases

function message(subject: string, payload: object): string {
  return `$${JSON.stringify({ topic: `v1/${ID}/${subject}/info`, payload })}a0\r\n`
}
