import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

function frame(kind: string, content: string): Buffer {
  const body = bytes(`010524101530 ${content} 0000`)
  const length = Buffer.of(body.length - 10, 0)
  return Buffer.concat([bytes(`2424 ${kind}00`), length, body, bytes('2323')])
}

const LOGIN = frame('00', '8681830000000170 4c452e322e30302e a32b020f0000')
const position = (flags: string) => frame('33', `52315000 0132460000 ${flags} 08 0001020304 87 0005000000`)
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: 13.41, heading: 270, satellites: 8 }

export default {
  costly: { 'a long position': Buffer.alloc(COSTLY_SIZE, 0x24) },
  frames: [
    {
      title: 'a login, positions and a kind that is not known',
      frames: [
        { frame: LOGIN, device: '868183000000017', none: 'login', reply: LOGIN },
        { frame: position('07'), fixes: [FIX] },
        { frame: position('00'), fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41, valid: false }] },
        { frame: frame('33', '5231f000 0132460000 07 08'), error: 'malformed', envelope: {} },
        { frame: frame('34', '0000000000000000') },
      ],
    },
  ],
} satisfies ProtocolCases
