import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: { hashes: `*T57#F1#1${many('#')}`, 'one number': `*T57#F1#1#041117#152900#${many('1')}` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: '*T57#F1#042#201126#152900#5231.5000#S#01324.6000#W#+0.2,+0.1,-0.7#12.500#34.500#A2#4.0#',
          device: '042',
          fixes: [
            {
              time: '2026-11-20T15:29:00Z',
              latitude: -52.525,
              longitude: -13.41,
              speed: knots(12.5),
              altitude: 34.5,
              said: { battery_voltage: 4 },
            },
          ],
        },
        { frame: '*T57#F3#042#201126#152900#5231.5000#S#01324.6000#W#I#9674432345#340#', fixes: [] },
      ],
    },
  ],
} satisfies ProtocolCases
