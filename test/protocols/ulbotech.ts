import { ByteWriter, crc16Xmodem } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '867965023064633'
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: 10,
  heading: 270,
  hdop: 1.2,
}
const POSITION = place(120)
const SAID = '\x03\x04\x02\x40\x00\x00\x05\x06\x03\x55\x19\xad\x22\x14'
const line = (fields: string) => `*TS01,${IMEI},${fields}#`
const lineAck = (fields: string) => {
  const sum = crc16Xmodem(Buffer.from(line(fields).slice(1, -1)))
  return `*TS01,ACK:${sum.toString(16).toUpperCase().padStart(4, '0')}#`
}

export default {
  costly: {
    'positions that are too short': frame(many('\x01\x00').slice(100)),
    escapes: Buffer.from(`\xf8${many('\xf7\x00').slice(10)}\xf8`, 'latin1'),
    'a line': `*TS01,${many(',').slice(10)}#`,
  },
  frames: [
    {
      title: 'a line and reports',
      frames: [
        { frame: `*TS01,${IMEI}#`, device: IMEI, none: 'heartbeat', reply: '*TS01,ACK:8107#' },
        {
          frame: frame(`${POSITION}\x04\x02\xf7\xf8`),
          device: IMEI,
          fixes: [FIX],
          reply: ack(`${POSITION}\x04\x02\xf7\xf8`),
        },
        {
          frame: frame(place(9999)),
          device: IMEI,
          fixes: [{ ...FIX, hdop: 99.99, valid: false }],
          reply: ack(place(9999)),
        },
        {
          frame: `*TS01,${IMEI},101530010524,GPS:3;N52.525;W13.41;36;270;1.2,STT:242;0,MGR:32040#`,
          device: IMEI,
          fixes: [{ ...FIX, said: { ignition: true } }],
          reply: '*TS01,ACK:A6CC#',
        },
        {
          frame: line('101530010524,GPS:3;N52.525;W13.41;36;270;1.2,STT:40;0,ADC:0;14.76;1;28.91;2;4.17'),
          device: IMEI,
          fixes: [{ ...FIX, said: { ignition: false, external_voltage: 14.76, battery_voltage: 4.17 } }],
          reply: lineAck('101530010524,GPS:3;N52.525;W13.41;36;270;1.2,STT:40;0,ADC:0;14.76;1;28.91;2;4.17'),
        },
        {
          frame: line('101530311324,GPS:3;N52.525;W13.41;36;270;1.2'),
          error: 'malformed',
          envelope: { device: IMEI, reply: lineAck('101530311324,GPS:3;N52.525;W13.41;36;270;1.2') },
        },
        {
          frame: frame(`${POSITION}${SAID}`),
          device: IMEI,
          fixes: [{ ...FIX, said: { ignition: true, external_voltage: 12.90771484375, battery_voltage: 4.287109375 } }],
          reply: ack(`${POSITION}${SAID}`),
        },
        {
          frame: frame('\x01\x02\x00\x00'),
          error: 'truncated',
          envelope: { device: IMEI, reply: ack('\x01\x02\x00\x00') },
        },
        {
          frame: `*TS01,${IMEI},101530010524,LBS:460;0;2531;21d5,STT:242;0#`,
          device: IMEI,
          none: 'cells',
          said: { ignition: true },
          reply: '*TS01,ACK:92FC#',
        },
        { frame: frame('\x02\x01\x00'), device: IMEI, none: 'cells', reply: ack('\x02\x01\x00') },
        { frame: frame('\x03\x01\x00'), device: IMEI, none: 'no place', reply: ack('\x03\x01\x00') },
        { frame: frame('', 2), device: IMEI },
      ],
    },
  ],
  corrections: [
    {
      reason:
        'the answer names the checksum of the report, as the answer to a line does: what is constant names nothing',
      says({ input, replies }) {
        const bytes = Buffer.from(input.hex ?? '', 'hex')
        if (bytes[0] !== 0xf8 || !replies) return undefined
        const sum = bytes.at(-1) === 0xf8 ? bytes.readUInt16BE(bytes.length - 3) : 0
        const answer = new ByteWriter().hex('01fe').u16(sum).crc16(crc16Xmodem).toBuffer()
        return { replies: [{ hex: `f8${answer.toString('hex')}f8` }] }
      },
    },
  ],
} satisfies ProtocolCases

function place(hdop: number): string {
  const w = new ByteWriter().u8(1).u8(14).u32(52_525_000).u32(-13_410_000).u16(36).u16(270).u16(hdop)
  return w.toBuffer().toString('latin1')
}

function content(data: string, type = 1): Buffer {
  const seconds = (Date.parse(FIX.time) - Date.UTC(2000, 0, 1)) / 1000
  const w = new ByteWriter()
    .u8(1)
    .u8(type)
    .hex(`0${IMEI}`)
    .u32(seconds | 0x8000_0000)
    .ascii(data)
  return w.crc16(crc16Xmodem).toBuffer()
}

function frame(data: string, type?: number): Buffer {
  return wrapped(content(data, type))
}

function ack(data: string): Buffer {
  return wrapped(new ByteWriter().hex('01fe').bytes(content(data).subarray(-2)).crc16(crc16Xmodem).toBuffer())
}

function wrapped(bytes: Buffer): Buffer {
  const pairs = [...bytes].flatMap((byte) => (byte === 0xf7 ? [0xf7, 0] : byte === 0xf8 ? [0xf7, 0x0f] : [byte]))
  return Buffer.from([0xf8, ...pairs, 0xf8])
}
