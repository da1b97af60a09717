import { crc16CcittFalse, kmh, mph } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const TIME = 1714558530
const le = (size: number, value: number) => {
  const buffer = Buffer.alloc(size)
  buffer.writeUIntLE(value, 0, size)
  return buffer
}
const text = (words: string) =>
  Buffer.concat([
    bytes('8000 1234 b000'),
    le(2, Math.min(20 + words.length, 0xffff)),
    bytes('0101 0000 03750001'),
    le(4, TIME),
    Buffer.from(words, 'latin1'),
  ])

/** A frame of the second kind around what follows its checksum. */
function binary(content: Buffer): Buffer {
  const frame = Buffer.concat([bytes('04'), le(2, 5 + content.length), bytes('0000'), content])
  frame.writeUInt16LE(crc16CcittFalse(frame), 3)
  return frame
}
const HEAD = Buffer.concat([bytes('5c1b'), le(4, 35209308), le(4, 6403655), le(4, TIME)])
const FIX = { time: '2024-05-01T10:15:30Z', latitude: -4.34106, longitude: 100.73078 }

export default {
  costly: {
    digits: text(many('1')),
    angles: text(many('-1.123456, ')),
    letters: text(`1.12345, 1.12345, N ${many('a')}`),
  },
  frames: [
    {
      title: 'texts with a place, moving and standing, a ping and records',
      frames: [
        {
          frame: text('Van: Ignition on detected, moving, -4.34106, 100.73078, 01:21 Aug 9  EOF'),
          device: '57999361',
          fixes: [{ ...FIX, said: { ignition: true } }],
          reply: 'gprs,ack,4660',
        },
        {
          frame: text('Van: Ignition off detected, parked, 01:21 Aug 9  EOF'),
          device: '57999361',
          none: 'no place',
          said: { ignition: false },
          reply: 'gprs,ack,4660',
        },
        {
          frame: text('Van: Moving, 0.1 km SE of School, -4.34106, 100.73078, NE with speed 36 km/h, 01:21 Aug 9  EOF'),
          device: '57999361',
          fixes: [{ ...FIX, heading: 45, speed: kmh(36) }],
          reply: 'gprs,ack,4660',
        },
        {
          frame: text('Van: gar\xe9, 0.75 km E de Ecole, -4.34106, 100.73078, 01:00 Jan 1   EOF'),
          device: '57999361',
          fixes: [FIX],
          reply: 'gprs,ack,4660',
        },
        {
          frame: text('Van: roule, -4.34106, 100.73078, NO avec vitesse 36 km/h, 01:21 Aug 9  EOF'),
          device: '57999361',
          fixes: [{ ...FIX, speed: kmh(36) }],
          reply: 'gprs,ack,4660',
        },
        {
          frame: text('Van: Moving, 0.1 mi SE of School, -4.34106, 100.73078, NNE with speed 20 mph, 01:21 Aug 9  EOF'),
          device: '57999361',
          fixes: [{ ...FIX, heading: 22.5, speed: mph(20) }],
          reply: 'gprs,ack,4660',
        },
        {
          frame: text('').subarray(0, 16),
          error: 'truncated',
          envelope: { device: '57999361', reply: 'gprs,ack,4660' },
        },
        { frame: text('Ping EOF'), device: '57999361', none: 'no place', reply: 'gprs,ack,4660' },
        {
          frame: binary(Buffer.concat([HEAD, bytes('04 00000000')])),
          device: '352093086403655',
          reply: binary(Buffer.concat([HEAD, bytes('ff 5c1b 0000')])),
        },
      ],
    },
  ],
} satisfies ProtocolCases
