import { kmh, xor } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

const PLACE = '$$CLIENT_1ZF,42,1,52.525000,-13.410000,261120150010,'
const FIX = { time: '2026-11-20T15:00:10Z', latitude: 52.525, longitude: -13.41 }

const AIS_140 = { ignition: true, external_voltage: 12.5, battery_voltage: 4.1 }

export default {
  costly: { commas: sealed(`${PLACE}A${many(',')}`), 'one number': sealed(`$$CLIENT_1ZF,42,1,${many('1')}`) },
  frames: [
    {
      title: 'positions, long and short',
      frames: [
        {
          frame: sealed(`${PLACE}A,11,36,247196,270,9,0.810000,0,0,0,1,`),
          device: '42',
          fixes: [{ ...FIX, speed: kmh(36), heading: 270, satellites: 9, hdop: 0.81 }],
        },
        {
          frame: sealed(`${PLACE}V,27,36,8,270,68,0,0,0,0,1,`),
          device: '42',
          fixes: [{ ...FIX, valid: false, speed: kmh(36), heading: 270 }],
        },
        {
          frame: sealed(`${PLACE}A,11,36,247196,270,9,0.810000,${'0,'.repeat(14)}1,${'0,'.repeat(20)}13325,306,`),
          device: '42',
          fixes: [{ ...FIX, speed: kmh(36), heading: 270, satellites: 9, hdop: 0.81, said: { ignition: true } }],
        },
        {
          frame: sealed(`${PLACE}A,27,36,8,270,${'0,'.repeat(12)}0,1,${'0,'.repeat(19)}399,3709,`),
          device: '42',
          fixes: [{ ...FIX, speed: kmh(36), heading: 270, said: { ignition: false } }],
        },
        { frame: sealed(`${PLACE}A,01,123456,`), device: '42', fixes: [FIX] },
        {
          frame:
            '$Header,iTriangle,1_36T02B0164MAIS_6,NR,1,L,356307042441013,KA01,1,20112026,150010,52.525000,N,13.410000,W,36.0,270,9,34.5,2.1,0.81,INA,1,1,12.5,4.1,0,C,24,404,45,61E4,AAAA,0001,00,000004,1A2B3C4D,*\r\n',
          device: '356307042441013',
          fixes: [{ ...FIX, speed: kmh(36), heading: 270, satellites: 9, altitude: 34.5, hdop: 0.81, said: AIS_140 }],
        },
        {
          frame:
            '$Header,iTriangle,1_36T02B0164MAIS_6,EA,10,L,356307042441013,KA01,1,20112026,150010,52.525000,N,13.410000,W,36.0,270,9,34.5,2.1,0.81\r\n',
          device: '356307042441013',
          fixes: [
            {
              ...FIX,
              speed: kmh(36),
              heading: 270,
              satellites: 9,
              altitude: 34.5,
              hdop: 0.81,
              said: { alarms: ['sos'] },
            },
          ],
        },
        {
          frame: '$EPB,EMR,356307042441013,NM,20112026150010,V,52.525000,N,13.410000,W,34.5,36.0,0.0,G,KA01,0*\r\n',
          device: '356307042441013',
          fixes: [{ ...FIX, valid: false, speed: kmh(36), altitude: 34.5, said: { alarms: ['sos'] } }],
        },
        { frame: '$Header,KA01,356307042441013,1_36T02B0164MAIS_6,AIS140,*\r\n' },
        { frame: sealed('$$CLIENT_1ZF,42,X,1'), device: '42' },
        { frame: sealed(`${PLACE}A,01,123456,`).replace('01', '02'), error: 'checksum' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the voltages are in units that differ between devices; what says charged comes with a supply of 0.4 V',
      says: eachSaid(({ ignition }) => ({ ignition })),
    },
    {
      reason: 'the fields are those of aquila-005, whose ignition is off',
      frames: ['aquila-010'],
      says: eachSaid(() => ({ ignition: false })),
    },
  ],
  exceptions: { 'aquila-010': 'its course is 1, which the peer takes for 135 degrees' },
} satisfies ProtocolCases

function sealed(text: string): string {
  return `${text}*${xor(Buffer.from(text)).toString(16).padStart(2, '0').toUpperCase()}\r\n`
}
