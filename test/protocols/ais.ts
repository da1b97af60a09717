import { TextWriter } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const NOW = '2026-11-20T12:00:00Z'
const FIX = { device: '244123456', time: NOW, latitude: 52.525, longitude: -13.41, speed: 18.52, heading: 270.5 }
const STILL = { ...FIX, speed: undefined, heading: undefined }
const PLACE: Bits = [
  [-13.41 * 600_000, 28],
  [52.525 * 600_000, 27],
]
const MOVING: Bits = [[360, 10], [1, 1], ...PLACE, [2705, 12]]
const HEAD: Bits = [
  [0, 2],
  [244_123_456, 30],
]

export default {
  costly: {
    sentences: many(sentence(content([[5, 6], ...HEAD]))),
    'a long sentence': sentence('0'.repeat(65_000)),
    beginnings: many('!AIVDM,1,1,,'),
  },
  frames: [
    {
      title: 'reports of all types',
      frames: [
        { frame: message(1, [[0, 12], ...MOVING]), fixes: [FIX] },
        { frame: message(3, [[0, 12], [1023, 10], [0, 1], ...PLACE, [3600, 12]]), fixes: [STILL] },
        { frame: message(18, [[0, 8], ...MOVING]), fixes: [FIX] },
        {
          frame: message(9, [[450, 12], [36, 10], [1, 1], ...PLACE, [2705, 12]]),
          fixes: [{ ...FIX, altitude: 450 }],
        },
        {
          frame: message(4, [[2026, 14], [11, 4], [20, 5], [6, 5], [30, 6], [15, 6], [1, 1], ...PLACE]),
          fixes: [{ ...STILL, time: '2026-11-20T06:30:15Z' }],
        },
        { frame: message(4, [[0, 14], [0, 4], [0, 5], [24, 5], [60, 6], [60, 6], [1, 1], ...PLACE]), fixes: [STILL] },
        { frame: message(21, [[0, 125], [0, 1], ...PLACE]), fixes: [STILL] },
        {
          frame: message(27, [
            [0, 6],
            [-13.41 * 600, 18],
            [52.525 * 600, 17],
            [36, 6],
            [270, 9],
          ]),
          fixes: [{ ...FIX, heading: 270 }],
        },
        {
          frame: message(1, [
            [0, 12],
            [0, 11],
            [181 * 600_000, 28],
            [91 * 600_000, 27],
            [0, 12],
          ]),
          none: 'no fix',
        },
        { frame: message(24, [[0, 100]]), none: 'status' },
        { frame: message(63, [[0, 100]]) },
        { frame: message(1, [[0, 12]]), error: 'truncated' },
        { frame: '!AIVDM,1,1,,A,1z~,0*00\r\n', error: 'checksum' },
        { frame: '$GPRMC,1\r\n', error: 'unsupported' },
      ],
    },
    {
      title: 'several sentences in a datagram, with tag blocks',
      transport: 'udp',
      frames: [
        {
          frame: `\\s:r003,c:1795156215*4A\\${message(1, [[0, 12], ...MOVING])}${message(24, [[0, 99]])}${message(1, [])}`,
          fixes: [FIX],
          unreadable: [2],
        },
      ],
    },
    {
      title: 'a message in two parts',
      frames: [
        { frame: sentence(ship().slice(0, 10), '2,1,7'), none: 'part' },
        { frame: sentence(ship().slice(10), '2,2,7'), fixes: [FIX] },
      ],
    },
  ],
  corrections: [
    {
      reason: 'ITU-R M.1371-5, table 48: position accuracy 0 is an error above 10 m, no lack of a fix',
      says: eachPosition(() => ({ valid: true })),
    },
  ],
} satisfies ProtocolCases

type Bits = readonly (readonly [value: number, width: number])[]

function ship(): string {
  return content([[1, 6], ...HEAD, [0, 12], ...MOVING])
}

function message(type: number, bits: Bits): string {
  return sentence(content([[type, 6], ...HEAD, ...bits]))
}

function content(bits: Bits): string {
  const text = bits
    .map(([value, width]) =>
      BigInt.asUintN(width, BigInt(Math.round(value)))
        .toString(2)
        .padStart(width, '0'),
    )
    .join('')
  return (text.match(/.{1,6}/g) ?? [])
    .map((six) => {
      const code = Number.parseInt(six.padEnd(6, '0'), 2)
      return String.fromCharCode(code + (code < 40 ? 48 : 56))
    })
    .join('')
}

function sentence(payload: string, part = '1,1,'): string {
  const text = `AIVDM,${part},A,${payload},0`
  const sum = new TextWriter().text(text).xor().toBuffer().toString('latin1').slice(-2)
  return `!${text}*${sum}\r\n`
}
