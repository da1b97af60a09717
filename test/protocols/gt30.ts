import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const PLACE = '102834.000,A,5231.5000,N,01324.6000,W,12.5,270,201126,,*13|1.3|26225BD\r\n'
const FIX = {
  time: '2026-11-20T10:28:34Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: knots(12.5),
  heading: 270,
  hdop: 1.3,
  altitude: 262,
}

export default {
  costly: { commas: `$$005D3037811014    9955${many(',')}\n`, digits: `$$${many('1')}\n` },
  frames: [
    {
      title: 'a position and an alarm',
      frames: [
        { frame: `$$005D3037811014    9955${PLACE}`, device: '3037811014', fixes: [FIX] },
        {
          frame: `$$005E3037811014    9999\x03${PLACE}`,
          device: '3037811014',
          fixes: [{ ...FIX, said: { alarms: ['sos'] } }],
        },
        {
          frame: `$$005E3037811014    9999\x10${PLACE}`,
          device: '3037811014',
          fixes: [{ ...FIX, said: { alarms: ['low_battery'] } }],
        },
        { frame: `$$005E3037811014    9999\x13${PLACE}`, device: '3037811014', fixes: [FIX] },
        { frame: '$$00163037811014    1234\r\n', device: '3037811014' },
      ],
    },
  ],
} satisfies ProtocolCases
