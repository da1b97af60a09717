import { ByteWriter, sum8, xor } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '861785007918323'
const SECONDS = Date.UTC(2024, 4, 1, 10, 15, 30) / 1000
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.5,
  longitude: -13.25,
  speed: 9.26,
  heading: 270,
  altitude: 40,
  satellites: 12,
  hdop: 0.9,
}
const PLACE = `03${float(52.5)}04${float(-13.25)}0587047512975a000000`
const FIELDS = '12487,2277,203,65534,0,0,193,65535,65535,65535,65535'

export default {
  costly: {
    'packets without content': packages('01000000000000'.repeat(9000)),
    'packets of a text': packages(packet(3, '41').repeat(7000)),
    'a line of many fields': `$AV,V4,1${many(',').slice(20)}\r\n`,
  },
  frames: [
    {
      title: 'headers, packages, a ping',
      frames: [
        { frame: header('22'), device: IMEI, none: 'login', reply: Buffer.from('7b00007d', 'hex') },
        { frame: header('23'), device: IMEI, none: 'login', reply: Buffer.from('7b0400e14036006b7d', 'hex') },
        { frame: header('24', '0102030405060708'), device: IMEI, none: 'login', reply: Buffer.from('7b7d', 'hex') },
        { frame: packages(packet(1, PLACE) + packet(6, PLACE)), fixes: [FIX, FIX], reply: ack() },
        {
          frame: packages(packet(1, `${PLACE}01b50f5d6c0601010000`) + packet(1, `${PLACE}0601000000`)),
          fixes: [
            { ...FIX, said: { ignition: true, external_voltage: 27.741, battery_voltage: 4.021 } },
            { ...FIX, said: { ignition: false } },
          ],
          reply: ack(),
        },
        { frame: packages(packet(1, `${PLACE}0602010000`)), fixes: [FIX], reply: ack() },
        { frame: packages(''), none: 'no place', reply: ack() },
        {
          frame: packages(packet(1, PLACE)).subarray(0, -1),
          error: 'truncated',
          envelope: { reply: ack() },
        },
        { frame: packages(packet(1, '5b4e000000')), none: 'no place', reply: ack() },
        { frame: packages(packet(3, '747261')), none: 'no place', reply: ack() },
        { frame: packages(packet(9, '747261')), reply: ack() },
        { frame: Buffer.from('5bfd005d', 'hex'), none: 'heartbeat', reply: Buffer.from('7b00fd7d', 'hex') },
      ],
    },
    {
      title: 'lines',
      frames: [
        {
          frame: line(`AV,V4,85164,${FIELDS},1,13,40.0,56.1,101530,5230.0000S,01315.0000W,18.0,270.0,010524,0,0,0,SF`),
          device: '85164',
          fixes: [
            {
              time: FIX.time,
              latitude: -52.5,
              longitude: -13.25,
              speed: 9.26,
              heading: 270,
              altitude: 40,
              satellites: 13,
              said: { ignition: false, external_voltage: 22.77, battery_voltage: 2.03 },
            },
          ],
        },
        {
          frame: line(`AV,V4,85164,${FIELDS},0,0,,,101530,5230.0000N,01315.0000W,18.0,270.0,010524,0,0,32767,`),
          device: '85164',
          fixes: [
            {
              time: FIX.time,
              latitude: 52.5,
              longitude: -13.25,
              speed: 9.26,
              heading: 270,
              valid: false,
              satellites: 0,
              said: { ignition: false, external_voltage: 22.77, battery_voltage: 2.03 },
            },
          ],
        },
        {
          frame: line('AV,V3,85164,12487,2277,1,13,101530,5230.0000S,01315.0000W,18.0,270.0,010524,0,0,0,SF'),
          device: '85164',
          fixes: [{ time: FIX.time, latitude: -52.5, longitude: -13.25, speed: 9.26, heading: 270, satellites: 13 }],
        },
        {
          frame: line('AV,V3,85164,12487,2277,1, 13,101530,5230.0000S,01315.0000W,18.0, 270.0, 010524'),
          device: '85164',
          fixes: [{ time: FIX.time, latitude: -52.5, longitude: -13.25, speed: 9.26, heading: 270, satellites: 13 }],
        },
        {
          frame: line('AV,V3,85164,12487,2277,1,13,101530,5230.0000S,01315.0000W,,,010524,0,0,0,SF'),
          device: '85164',
          fixes: [{ time: FIX.time, latitude: -52.5, longitude: -13.25, satellites: 13 }],
        },
        { frame: line('AV,V3D,85164,20707'), device: '85164', none: 'status' },
        { frame: line('AV,V9,85164,20707'), device: '85164' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'its fix flag is 0',
      frames: ['arnavi-018'],
      says: ({ positions }) => ({ positions: positions.map((position) => ({ ...position, valid: false })) }),
    },
  ],
} satisfies ProtocolCases

function float(value: number): string {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return bytes.toString('hex')
}

function header(version: string, extension = ''): Buffer {
  return new ByteWriter().u8(0xff).hex(version).u64le(Number(IMEI)).hex(extension).toBuffer()
}

function packet(kind: number, data: string): string {
  const content = new ByteWriter().u32le(SECONDS).hex(data).toBuffer()
  const w = new ByteWriter()
    .u8(kind)
    .u16le(data.length / 2)
    .bytes(content)
    .u8(sum8(content))
  return w.toBuffer().toString('hex')
}

function packages(packets: string): Buffer {
  return new ByteWriter().hex('5b07').hex(packets).u8(0x5d).toBuffer()
}

function ack(): Buffer {
  return Buffer.from('7b00077d', 'hex')
}

function line(text: string): string {
  const covered = `${text},`
  return `$${covered}*${xor(Buffer.from(covered)).toString(16).toUpperCase().padStart(2, '0')}\r\n`
}
