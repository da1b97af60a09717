import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: { commas: `>1<$GPRMC${many(',')}\r`, 'one number': `>1<$GPRMC,170559.000,A,${many('1')}\r` },
  frames: [
    {
      title: 'a position',
      frames: [
        {
          frame: '>0002<$GPRMC,170559.000,A,5231.5000,N,01324.6000,W,12.5,270,201126,,,A77, s000078015180",0MD\r',
          device: '0002',
          fixes: [
            { time: '2026-11-20T17:05:59Z', latitude: 52.525, longitude: -13.41, speed: knots(12.5), heading: 270 },
          ],
        },
        { frame: '>0002<x\r', device: '0002' },
      ],
    },
  ],
} satisfies ProtocolCases
