import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const registration = (id: string) => {
  const frame = Buffer.alloc(72)
  frame.writeUInt32LE(0x2000_1001, 0)
  frame.writeUInt32LE(72, 4)
  frame.write(id, 12)
  return frame
}

export default {
  costly: { 'a long frame': Buffer.concat([bytes('01100020 00000100'), Buffer.alloc(COSTLY_SIZE - 8)]) },
  frames: [
    {
      title: 'a registration, a heartbeat and a kind that is not known',
      frames: [
        { frame: registration('09557'), device: '09557', none: 'login' },
        { frame: bytes('01100000 08000000'), none: 'heartbeat' },
        { frame: bytes('01200020 10000000 0300000002000000') },
      ],
    },
  ],
  corrections: [
    {
      reason: 'NULs fill the id up to its length',
      frames: ['recoda-000'],
      says: { deviceId: '09556' },
    },
  ],
  withoutPositions: 'no frame with a position is known',
} satisfies ProtocolCases
