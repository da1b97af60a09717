import { kmh, xor } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const PLACE = '$$CLIENT_1ZF,42,1,52.525000,-13.410000,261120150010,'
const FIX = { time: '2026-11-20T15:00:10Z', latitude: 52.525, longitude: -13.41 }

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
        { frame: sealed(`${PLACE}A,01,123456,`), device: '42', fixes: [FIX] },
        { frame: sealed('$$CLIENT_1ZF,42,X,1'), device: '42' },
        { frame: sealed(`${PLACE}A,01,123456,`).replace('01', '02'), error: 'checksum' },
      ],
    },
  ],
  exceptions: { 'aquila-010': 'its course is 1, which the peer takes for 135 degrees' },
} satisfies ProtocolCases

function sealed(text: string): string {
  return `${text}*${xor(Buffer.from(text)).toString(16).padStart(2, '0').toUpperCase()}\r\n`
}
