import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: { commas: `>C1${many(',')}\n`, 'one number': `>C1,M1,O1,I1,D124057,A,S${many('1')}\n` },
  frames: [
    {
      title: 'a position',
      frames: [
        {
          frame: '>C800000,M005004,O0000,I0002,D124057,A,S5231.5000,W01324.6000,T012.5,H270.0,Y201126,G06*17\r\n',
          device: '800000',
          fixes: [
            {
              time: '2026-11-20T12:40:57Z',
              latitude: -52.525,
              longitude: -13.41,
              speed: knots(12.5),
              heading: 270,
              satellites: 6,
            },
          ],
        },
        { frame: '>C800000,x\r\n', device: '800000' },
      ],
    },
  ],
} satisfies ProtocolCases
