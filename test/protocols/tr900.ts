import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

export default {
  costly: { commas: `>1${many(',')}\n`, 'one number': `>1,1,1,261120,144111,W${many('1')}\n` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: '>042,4,1,261120,144111,W01324.6000,S5231.5000,,36,270,18,00,003-000,0,3,11111011*3b!\r\n',
          device: '042',
          fixes: [{ time: '2026-11-20T14:41:11Z', latitude: -52.525, longitude: -13.41, speed: kmh(36), heading: 270 }],
        },
        { frame: '>042,x\r\n', device: '042' },
      ],
    },
  ],
  corrections: [
    {
      reason: '000 is not the voltage of the battery that feeds the tracker',
      says: eachSaid((each) => ({ ...each, batteryV: undefined })),
    },
  ],
} satisfies ProtocolCases
