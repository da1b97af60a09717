import { deflateSync } from 'node:zlib'
import { crc16Arc } from '../../protocols/kit/index.ts'
import { COSTLY_SIZE, eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '861234000000001'
const SHORT = '010524;101530;5231.5000;N;01324.6000;E;36;270;34;9'
const EXTENDED = `${SHORT};0.9;0;0;14.7,0.02;NA;count:1:5,name:3:x`
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  altitude: 34,
  speed: 10,
  heading: 270,
  satellites: 9,
}

export default {
  costly: {
    'records that are none': `#B#${many('a|')}\r\n`,
    'records that are none, compressed': compressed(`#B#${many('a|').repeat(4)}`),
    'records that are none, compressed little': compressed(`#B#${'a|'.repeat(COSTLY_SIZE / 2 - 1000)}${noise(1500)}`),
    'good records and bad ones': `#B#${many(';;;;;|a|')}\r\n`,
    'records without content': `#B#${many('|')}\r\n`,
    'a login of many fields': `#L#${many(';')}\r\n`,
  },
  frames: [
    {
      title: '2.0: a login, short data, a black box',
      frames: [
        { frame: line('L', `2.0;${ID};NA`), device: ID, none: 'login', reply: '#AL#1\r\n', refusal: '#AL#0\r\n' },
        { frame: line('SD', SHORT), fixes: [FIX], reply: '#ASD#1\r\n' },
        { frame: line('D', EXTENDED), fixes: [{ ...FIX, hdop: 0.9 }], reply: '#AD#1\r\n' },
        { frame: line('B', `${SHORT}|${SHORT}`, '|'), fixes: [FIX, FIX], reply: '#AB#2\r\n' },
        { frame: '#P#\r\n', none: 'heartbeat', reply: '#AP#\r\n' },
      ],
    },
    {
      title: '1.1: data without a checksum, and a compressed packet',
      frames: [
        {
          frame: `#L#${ID};Secret1\r\n`,
          device: ID,
          secret: 'Secret1',
          none: 'login',
          reply: '#AL#1\r\n',
          refusal: '#AL#0\r\n',
        },
        { frame: `#SD#${SHORT}\r\n`, fixes: [FIX], reply: '#ASD#1\r\n' },
        { frame: `#SD#${SHORT};;x\r\n`, fixes: [FIX], reply: '#ASD#1\r\n' },
        { frame: `#D#${SHORT}\r\n`, fixes: [FIX], reply: '#AD#1\r\n' },
        {
          frame: `#D#${SHORT};0.9;0;0;;4B1D2E;count:1:5,SOS:1:1\r\n`,
          fixes: [{ ...FIX, hdop: 0.9, said: { driver: '4B1D2E', alarms: ['sos'] } }],
          reply: '#AD#1\r\n',
        },
        {
          frame: `#SD#${SHORT.slice(0, -2)}\r\n`,
          fixes: [{ ...FIX, satellites: undefined }],
          reply: '#ASD#1\r\n',
        },
        { frame: compressed(`#D#${EXTENDED}\r\n`), fixes: [{ ...FIX, hdop: 0.9 }], reply: '#AD#1\r\n' },
      ],
    },
    {
      title: 'over UDP, of a device whose positions need no satellites',
      transport: 'udp',
      settings: { valid_without_satellites: true },
      frames: [
        {
          frame: `${ID}#B#${SHORT.slice(0, -2)}|${SHORT}`,
          device: ID,
          fixes: [{ ...FIX, satellites: undefined }, FIX],
          reply: '#AB#2\r\n',
        },
      ],
    },
  ],
  corrections: [
    {
      reason: 'Wialon IPS: NA is sent where there is no data; it does not say that the position is none',
      frames: ['wialon-001', 'wialon-003', 'wialon-020'],
      says: eachPosition(({ sat }) => ({ valid: sat === undefined || sat >= 3 })),
    },
    {
      reason: 'a report without a place is no fix, where the peer makes 0/0 of it',
      frames: ['wialon-023'],
      says: { positions: [] },
    },
    {
      reason:
        'Wialon IPS, "Short data packet": the answer to #SD# is #ASD#; who waits for it would send again for ever',
      frames: ['wialon-001', 'wialon-012', 'wialon-013', 'wialon-014'],
      says: { replies: [{ text: '#ASD#1\r\n' }] },
    },
  ],
} satisfies ProtocolCases

/** A packet of 2.x: the checksum covers the body with its last separator. */
function line(type: string, body: string, separator = ';'): string {
  const checksum = crc16Arc(Buffer.from(body + separator))
  return `#${type}#${body}${separator}${checksum.toString(16).toUpperCase().padStart(4, '0')}\r\n`
}

function compressed(packet: string): Buffer {
  const data = deflateSync(Buffer.from(packet), { level: 9 })
  return Buffer.concat([Buffer.of(0xff, data.length & 255, data.length >> 8), data])
}

/** Text that does not compress, the same from run to run. */
function noise(length: number): string {
  let state = 1
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return String.fromCharCode(97 + ((state >> 16) % 26))
  }).join('')
}
