import { ByteWriter, knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '123456789000777'
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: knots(10), heading: 270.5 }

function report(content: string): Buffer {
  return new ByteWriter()
    .u16(6 + content.length)
    .hex('00040200')
    .ascii(content)
    .toBuffer()
}

export default {
  costly: { digits: report(many('1')), sentences: report(many('GPRMC,231530.00,A,5231.5,')) },
  frames: [
    {
      title: 'sentences with an id in front of them; binary reports are not read',
      frames: [
        {
          frame: report(`         8       ${ID} 13 $GPRMC,231530.00,A,5231.5,N,01324.6,E,10.0,270.5,010524,,,A*52\r\n`),
          device: ID,
          fixes: [FIX],
        },
        {
          frame: report(`         8       ${ID} 13 GPRMC,231530.00,V,5231.5,S,01324.6,W,,,010524,,,A*52`),
          device: ID,
          fixes: [{ time: FIX.time, latitude: -52.525, longitude: -13.41, valid: false }],
        },
        { frame: report(` ${ID} 8:\r\x50\x84`), device: ID },
        { frame: report('          ') },
        { frame: Buffer.from([0, 3, 1]), error: 'truncated' },
      ],
    },
  ],
  exceptions: { 'enfora-000': 'its length is 10, and it has 24 bytes' },
} satisfies ProtocolCases
