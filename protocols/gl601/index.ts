/*
 * Queclink GL601 and newer models in binary: the kit has the frames (queclink.ts). TCP, no answer.
 */
import { dialects, type Protocol, queclinkFrames } from '../kit/index.ts'

const { frame, decode } = dialects(queclinkFrames)

export default {
  name: 'gl601',
  devices: 'Queclink GL601 in binary',
  integrity: { checksum: 'CRC-8 (31, FF)', covers: [0, -2] },
  tcp: { port: 5257, frame },
  decode,
} satisfies Protocol
