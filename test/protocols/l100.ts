import { TextWriter } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const RMC = 'GPRMC,063015.000,A,5441.2323,N,02516.7838,W,36.000,214.50,201126,,,A'
const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 54.687205,
  longitude: -25.27973,
  speed: 18.52,
  heading: 214.5,
}
const PLACE = { ...FIX, speed: 15 }
const BATTERY = { ...FIX, said: { battery_voltage: 4 } }
const NUMBERED = { ...PLACE, said: { battery_voltage: 4.2 } }

export default {
  costly: {
    'a sentence without an end': `ATL${ID},$GPRMC${many(',')}`,
    'a long sentence': `ATL${many('1')}ATL`,
    'fields without content': `L,ATL,${many(',')}*x`,
    'starts of sentences': many('ATL,NP,'),
  },
  frames: [
    {
      title: 'sentences',
      frames: [
        { frame: sentence(`ATL${ID}`), device: ID, fixes: [BATTERY], reply: '\x01' },
        { frame: sentence(`ATL,NP,${ID}`), device: ID, fixes: [BATTERY], reply: '\x01' },
        {
          frame: sentence(`ATL${ID}`).replace(/#.*/, ',ATL'),
          device: ID,
          fixes: [FIX],
          reply: '\x01',
        },
        { frame: `ATL${ID},$GPRMC,,V,,,,,,,,,,N,#0110,ATL`, device: ID, none: 'no place', reply: '\x01' },
        { frame: `ATL${ID},$GPGGA,1,#0110,ATL`, device: ID, reply: '\x01' },
        { frame: sentence(`ATL${ID}`).replace('36.000', '37.000'), error: 'checksum' },
        { frame: 'ATL,NP,ATL', error: 'unsupported' },
      ],
    },
    {
      title: 'lines with @',
      frames: [
        {
          frame: `ATL,L,${ID},N,201126,063015,A,054.687205,N,025.279730,W,054.0,GPS,3939,424,03@`,
          device: ID,
          fixes: [{ ...PLACE, heading: undefined }],
        },
        { frame: `ATL,L,${ID},N,201126@`, error: 'truncated', envelope: { device: ID } },
      ],
    },
    {
      title: 'numbered lines',
      frames: [
        { frame: `L,ATL,${ID},01,0035,*(`, device: ID, none: 'login', reply: `@${ID},00,35,*[` },
        { frame: position('A'), device: ID, fixes: [NUMBERED] },
        { frame: position('V'), device: ID, fixes: [{ ...NUMBERED, valid: false }] },
        {
          frame: position('A').replace('54,214.5', ','),
          device: ID,
          fixes: [{ ...NUMBERED, speed: undefined, heading: undefined }],
        },
        { frame: `L,ATL,${ID},02,0982,063015,201126,V,;,;,0,0,*x`, device: ID, none: 'no place' },
        { frame: `L,ATLOBD,${ID},03,7429,063015,201126,CAN,0104:3C,*x`, device: ID, none: 'status' },
        { frame: `L,ATL,${ID},09,0982,*x`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases

function sentence(head: string): string {
  const sum = new TextWriter().text(RMC).xor().toBuffer().toString('latin1').slice(-2)
  return `${head},$${RMC}*${sum},#01111011000000,0,0,0,934.82,27.13,4.0,25,405,755,15af,974b,ATL`
}

function position(valid: string): string {
  return `H,ATL,${ID},02,0981,063015,201126,${valid},54.687205;N,25.279730;W,54,214.5,1.14,4.2,18,404,*x`
}
