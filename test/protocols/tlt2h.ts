import { knots, xor } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const HEAD = `#${ID}#MT710#0000#AUTO`
const FIX = { time: '2026-11-20T15:00:10Z', latitude: 52.525, longitude: -13.41, speed: knots(12.5), heading: 270 }

const ON = { ignition: true }
const TOLD = { ignition: true, battery_voltage: 3.9 }

export default {
  costly: {
    lines: `${HEAD}#1\r\n${many('#$GPRMC,\r\n')}##\r\n`,
    'one number': `${HEAD}#1\r\n#$GPRMC,150010,A,${many('5')}##\r\n`,
  },
  frames: [
    {
      title: 'positions and what holds none',
      frames: [
        {
          frame: `${HEAD}#1\r\n#4106#${position('150010.00')}\r\n##\r\n`,
          device: ID,
          fixes: [{ ...FIX, said: { ...ON, battery_voltage: 4.106 } }],
        },
        {
          frame: `${HEAD}#2\r\n#25ee0dff${position('150010.00')}\r\n#25ee0dff${position('150015.00')}##\r\n`,
          device: ID,
          fixes: [
            { ...FIX, said: ON },
            { ...FIX, time: '2026-11-20T15:00:15Z', said: ON },
          ],
        },
        {
          frame: `${HEAD}#1\r\n#39#${sentence('GPRMC,150010.00,V,,,,,,,201126,,,A')}\r\n##\r\n`,
          device: ID,
          none: 'no fix',
          said: TOLD,
        },
        {
          frame: `${HEAD}#1\r\n#39#${position('150010.00', 'GNRMC')}\r\n##\r\n`,
          device: ID,
          fixes: [{ ...FIX, said: TOLD }],
        },
        {
          frame: `${HEAD}#1\r\n#39#${position('150010.00', 'BDRMC')}\r\n##\r\n`,
          device: ID,
          fixes: [{ ...FIX, said: TOLD }],
        },
        {
          frame: `${HEAD}#1\r\n#39#${sentence('WIFI,150010.00,A,-47,7483C2DBC0B0,201126')}\r\n##\r\n`,
          device: ID,
          none: 'wifi',
          said: TOLD,
        },
        { frame: `${HEAD}#1\r\n#39#1\r\n##\r\n`, device: ID, said: ON },
        { frame: `${HEAD}#1\r\n#4106#${position('150010.00').replace('270', '271')}\r\n##\r\n`, error: 'checksum' },
        {
          frame: `#${ID}#MT600+#0000#0#0#143#40#0#AUTOLOW#1\r\n#072030fcf21${position('150010.00')}\r\n##\r\n`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: false, external_voltage: 14.3, battery_voltage: 4 } }],
        },
        {
          frame: `#${ID}#MT710#0000#TOWED#1\r\n#1$XYZ,1*00\r\n##\r\n`,
          error: 'checksum',
          envelope: { device: ID },
        },
        {
          frame: `#${ID}#MT710#0000#TOWED#1\r\n#${position('150010.00')}\r\n##\r\n`,
          device: ID,
          fixes: [{ ...FIX, said: { alarms: ['tow'] } }],
        },
        {
          frame: `#${ID}#V500#0000#AUTOSTART#1\r\n#${position('150010.00')}\r\n##\r\n`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true } }],
        },
        {
          frame: `#${ID}#V500#0000#DEF#1\r\n#${position('150010.00')}\r\n##\r\n`,
          device: ID,
          fixes: [{ ...FIX, said: { alarms: ['power_cut'] } }],
        },
        {
          frame: `#${ID}#V500#0000#LP#1\r\n#${position('150010.00')}\r\n##\r\n`,
          device: ID,
          fixes: [{ ...FIX, said: { alarms: ['low_power'] } }],
        },
        ...Object.entries({ BLP: 'low_battery', CLP: 'low_power', OPEN: 'gps_antenna_cut' } as const).map(
          ([status, alarm]) => ({
            frame: `#${ID}#MT500#0000#${status}#1\r\n#262c0f48${position('150010.00')}\r\n##\r\n`,
            device: ID,
            fixes: [{ ...FIX, said: { alarms: [alarm] } }],
          }),
        ),
        { frame: 'GET / HTTP/1.1\r\n##\r\n', error: 'unsupported' },
      ],
    },
  ],
} satisfies ProtocolCases

function position(time: string, type = 'GPRMC'): string {
  return sentence(`${type},${time},A,5231.5000,N,01324.6000,W,12.50,270.00,201126,,,A`)
}

function sentence(text: string): string {
  return `$${text}*${xor(Buffer.from(text)).toString(16).padStart(2, '0').toUpperCase()}`
}
