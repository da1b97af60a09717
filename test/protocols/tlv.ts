import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const device = '860247030000017'

export default {
  costly: { digits: `0A\x0f${many('1')}` },
  frames: [
    {
      title: 'each kind, and what is none',
      frames: [
        { frame: `0A\x0f${device}\0`, device, none: 'heartbeat', reply: '0A\0' },
        { frame: `0C\x0f${device}\x0fS668_A_V1.01_EN\0`, device, none: 'login', reply: '0C\0' },
        { frame: `0B\x0f${device}\x011\0`, device },
        { frame: 'GET / HTTP/1.1\0', error: 'unsupported' },
      ],
    },
  ],
  exceptions: { 'tlv-002': 'what its answer says is not known' },
  withoutPositions: 'no frame with a position is known',
} satisfies ProtocolCases
