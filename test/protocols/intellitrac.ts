import { kmh } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const PLACE = '42,20261120150010,-13.41,52.525,36,270,34,9,3,0,0.000,4.208,20261120150010,0\r\n'
const FIX = {
  time: '2026-11-20T15:00:10Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34,
  speed: kmh(36),
  heading: 270,
  satellites: 9,
}

export default {
  costly: { digits: `${many('1')}\r\n`, commas: `42,20261120150010${many(',')}\r\n` },
  frames: [
    {
      title: 'positions and a keep-alive',
      frames: [
        { frame: PLACE, device: '42', fixes: [FIX] },
        { frame: `7,${PLACE}`, device: '42', fixes: [FIX] },
        { frame: `$RP:7,${PLACE}`, device: '42', fixes: [FIX] },
        { frame: '42,20261120150010,-13.41,52.525,36,270,34,9\r\n', device: '42', fixes: [FIX] },
        { frame: bytes('faf8000700000042'), none: 'heartbeat', reply: bytes('faf8000700000042') },
        {
          frame: '42,20261120150010,-13.41,52.525,36,270\r\n',
          device: '42',
          fixes: [{ ...FIX, altitude: undefined, satellites: undefined }],
        },
        { frame: '42,20261120150010,-13.41,52.525,x\r\n', device: '42', fixes: [] },
        { frame: '$OK:7\r\n' },
        { frame: 'GET / HTTP/1.1\r\n', error: 'unsupported' },
      ],
    },
  ],
} satisfies ProtocolCases
