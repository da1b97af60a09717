import { ByteWriter, knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '35200000000777'

function packet(type: string, content = ''): Buffer {
  const w = new ByteWriter().ascii('TT').u16(21 + content.length)
  return w.hex(`${ID}${type}`).ascii(content).hex('0000000b63130d0a').toBuffer()
}

export default {
  costly: { 'one field': packet('0003', many('1')), 'empty fields': packet('0003', many(',')) },
  frames: [
    {
      title: 'positions, cells, a heartbeat',
      frames: [
        {
          frame: packet('0003', '20240501231530,A,9,N,52.525,E,13.410,10.0,0.9,34.0;460,0,10172,4652,41'),
          device: ID,
          fixes: [
            {
              time: '2024-05-01T23:15:30Z',
              latitude: 52.525,
              longitude: 13.41,
              speed: knots(10),
              hdop: 0.9,
              altitude: 34,
              satellites: 9,
            },
          ],
        },
        {
          frame: packet('0004', '20240501231530,V,0,S,52.525,W,13.410,0,0,0;460,0'),
          device: ID,
          fixes: [
            {
              time: '2024-05-01T23:15:30Z',
              latitude: -52.525,
              longitude: -13.41,
              speed: 0,
              altitude: 0,
              satellites: 0,
              valid: false,
            },
          ],
        },
        { frame: packet('0003', ';404,45,10681,11621,35'), device: ID, none: 'cells' },
        { frame: packet('0002', '\x52\x07\x04'), device: ID, none: 'heartbeat' },
        { frame: packet('0009'), device: ID },
        { frame: packet('0003', '20240501231530,A;'), error: 'truncated', envelope: { device: ID } },
      ],
    },
  ],
} satisfies ProtocolCases
