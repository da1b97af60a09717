import { ByteWriter } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '862462033000777'

function packet(type: string, content: Buffer): Buffer {
  return new ByteWriter()
    .ascii(`$$${22 + content.length}${type}${ID}`)
    .bytes(content)
    .ascii('#')
    .toBuffer()
}

const PLACE = (hemispheres: readonly [string, string]) =>
  new ByteWriter()
    .hex('010518170f1e')
    .u16(5231)
    .u16(5000)
    .ascii(hemispheres[0])
    .u16(1324)
    .u16(6000)
    .ascii(hemispheres[1])
    .hex('24010e100300fb0a074142')
    .toBuffer()
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: 10, heading: 270 }

export default {
  costly: { zeros: Buffer.concat([packet('GPSL_02', PLACE(['N', 'E'])), Buffer.alloc(COSTLY_SIZE)]) },
  frames: [
    {
      title: 'a login, positions, status',
      frames: [
        { frame: packet('LOGN_11', Buffer.from('2.1')), device: ID, none: 'login', reply: `*LGSA_11${ID}1#` },
        { frame: packet('GPSL_02', PLACE(['N', 'E'])), device: ID, fixes: [FIX], reply: `*GPSA_02${ID}AB#` },
        {
          frame: packet('GPSL_02', PLACE(['S', 'W'])),
          device: ID,
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41 }],
          reply: `*GPSA_02${ID}AB#`,
        },
        { frame: packet('SYNC_11', bytes('000000000000')), device: ID, none: 'status', reply: `*SYSA_11${ID}#` },
        {
          frame: packet('GPSL_02', Buffer.from('\x1f\x02\x18AB', 'latin1')),
          error: 'malformed',
          envelope: { device: ID, reply: `*GPSA_02${ID}AB#` },
        },
        { frame: packet('ABCD_11', bytes('00')), device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
