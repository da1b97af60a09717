import { knots, xor } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const FIX = { time: '2026-11-20T15:00:10Z', latitude: 52.525, longitude: -13.41, speed: knots(12.5), heading: 270 }
const BATTERY = { ...FIX, said: { battery_voltage: 3.727 } }

export default {
  costly: { commas: sentence(`AVRMC,42${many(',')}`), 'one number': sentence(`AVRMC,42,150010,A,${many('1')}`) },
  frames: [
    {
      title: 'another head, and no field behind the date',
      frames: [
        {
          frame: sentence('EAVRMC,42,150010,A,5231.5000,S,01324.6000,W,12.50,270.00,201126'),
          device: '42',
          fixes: [{ ...FIX, latitude: -52.525 }],
        },
      ],
    },
    {
      title: 'positions, with and without an acknowledgement',
      frames: [
        { frame: position('A', '0'), isTypical: true, device: '42', fixes: [BATTERY] },
        {
          frame: position('R', 'H'),
          device: '42',
          fixes: [{ ...FIX, said: { battery_voltage: 3.727, alarms: ['power_off'] } }],
        },
        {
          frame: position('R', '0')
            .replace('3.727', '3727')
            .replace(/..\r\n$/, '02\r\n'),
          device: '42',
          fixes: [BATTERY],
        },
        {
          frame: position('v', '0'),
          device: '42',
          fixes: [{ ...BATTERY, valid: false }],
          reply: sentence(`EAVACK,0,${position('v', '0').slice(-4, -2)}`),
        },
        { frame: position('A', 'X'), device: '42', fixes: [BATTERY], reply: sentence('AVCFG,00000000,x') },
        { frame: position('A', 'S'), device: '42', fixes: [BATTERY], reply: sentence('AVCFG,00000000,t') },
        { frame: position('A', '4'), device: '42', fixes: [BATTERY] },
        { frame: position('A', 'T'), device: '42', fixes: [BATTERY] },
        {
          frame: position('p', '3'),
          device: '42',
          fixes: [{ ...FIX, said: { battery_voltage: 3.727, alarms: ['sos'] } }],
          reply: sentence(`EAVACK,3,${position('p', '3').slice(-4, -2)}`) + sentence('AVCFG,00000000,d'),
        },
        { frame: position('A', '0').replace('270.00', '271.00'), error: 'checksum' },
      ],
    },
    {
      title: 'what holds no position',
      frames: [
        { frame: sentence('EAVSYS,42'), device: '42', none: 'status' },
        { frame: sentence('AVSYS,42,V1.50,SN0000103,32768'), device: '42', none: 'status' },
        { frame: sentence('ECHK,42,7'), device: '42', none: 'heartbeat', reply: sentence('ECHK,42,7') },
        { frame: sentence('AVXXX,42,7'), device: '42' },
      ],
    },
  ],
} satisfies ProtocolCases

function position(state: string, event: string): string {
  return sentence(`AVRMC,42,150010,${state},5231.5000,N,01324.6000,W,12.50,270.00,201126,${event},3.727,17,1,0,0`)
}

function sentence(text: string): string {
  return `$${text}*${xor(Buffer.from(text)).toString(16).padStart(2, '0').toUpperCase()}\r\n`
}
