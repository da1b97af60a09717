import { TextWriter } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const GPS = 'GPS:A,261120063015,5441.2323N,02516.7838W,54.000,214.500'
const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 54.687205,
  longitude: -25.27973,
  speed: 15,
  heading: 214.5,
}
const REST = '\r\nWIFI:\r\nLBS:460,0,9763,219992654\r\n'

export default {
  costly: {
    'a report of many lines': frame('A00', many('\r\nGPS').slice(0, 65_000)),
    'many numbers': frame('A00', many('IMEI:1').slice(0, 65_000)),
  },
  wrongChecksums:
    'no specification is known; the XOR of all before it fits one of four frames, no other sum and no CRC-8 fits more: ids and networks of the others were changed',
  frames: [
    {
      title: 'login, reports',
      frames: [
        {
          frame: frame('200', `0020,IMEI:${ID},battery level:6,network type:7,CSQ:23`),
          device: ID,
          none: 'login',
          said: { battery_percent: 6 },
        },
        { frame: frame('A00', `\r\nIMEI:${ID}\r\n${GPS}${REST}`), device: ID, fixes: [FIX] },
        { frame: frame('A00', `${GPS.replace('A', 'V')}${REST}`), fixes: [{ ...FIX, valid: false }] },
        {
          frame: frame('A00', `${GPS.replace('54.000,214.500', ',')}${REST}`),
          fixes: [{ ...FIX, speed: undefined, heading: undefined }],
        },
        { frame: frame('A00', `IMEI:${ID}${REST}`), device: ID, none: 'no place' },
        {
          frame: frame('A00', `${GPS}${REST}battery level:32\r\nSteps:0\r\n`),
          fixes: [{ ...FIX, said: { battery_percent: 32 } }],
        },
        { frame: frame('A00', `IMEI:${ID}\r\nGPS:A,261120063015`), error: 'truncated', envelope: { device: ID } },
        { frame: frame('B00', '') },
        { frame: frame('A00', GPS).replace('A,26', 'A,25'), error: 'checksum' },
      ],
    },
  ],
} satisfies ProtocolCases

function frame(type: string, content: string): string {
  const w = new TextWriter().text('41').hex(content.length, 8).text(type).text(content)
  return w.xor().text('42').toBuffer().toString()
}
