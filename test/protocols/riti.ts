import { knots } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const POWER = { external_voltage: 12.565 }

function frame(sentence: string): Buffer {
  const content = Buffer.concat([
    bytes('1531810000000000000000'),
    bytes('0000005f71'),
    Buffer.from(`${sentence}\r\n`),
    bytes('0000'),
  ])
  return Buffer.concat([bytes('3b28 0063 05'), Buffer.of(content.length - 2), content, bytes('040404')])
}

export default {
  costly: { commas: frame(`$GPRMC,${many(',')}`) },
  frames: [
    {
      title: 'sentences with and without a fix, and none',
      frames: [
        {
          frame: frame('$GPRMC,101530.000,A,5231.5000,N,01324.6000,W,12.5,270,010524,,,A'),
          device: '99',
          fixes: [
            {
              time: '2024-05-01T10:15:30Z',
              latitude: 52.525,
              longitude: -13.41,
              speed: knots(12.5),
              heading: 270,
              said: POWER,
            },
          ],
        },
        { frame: frame('$GPRMC,101530.000,V,,,,,,,010524,,,N'), device: '99', none: 'no fix', said: POWER },
        { frame: frame('$GPRMC,101530.000,A*00'), device: '99', error: 'checksum' },
        { frame: frame('x'), device: '99' },
      ],
    },
  ],
} satisfies ProtocolCases
