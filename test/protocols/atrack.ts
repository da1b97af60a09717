import { ByteWriter, crc16Arc } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '356961075931165'
const LONG_ID = 336225321492236670n
const SECONDS = Date.UTC(2024, 4, 1, 10, 15, 30) / 1000
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: 10,
  heading: 270,
  hdop: 0.9,
}
const TEXT = `${SECONDS},${SECONDS + 1},${SECONDS + 2},-13410000,52525000,270,2,1234,9,1,36,0,0,,2000,2000,`
const LINK = 'http://maps.google.com/maps?q=52.525000,-13.410000 '
const ACK = new ByteWriter().hex('fe02').u64(Number(IMEI)).u16(7).toBuffer()

export default {
  costly: {
    'records without content': binary(Buffer.alloc(65_000)),
    'names of values': binary(Buffer.concat([record(), Buffer.from(many('%CI').slice(0, 60_000))])),
    'lines that are none': text(many('x\r\n')),
    'a line of many values': text(`${TEXT}\x1a,%CI${many('%AT').slice(0, 30_000)}${',1'.repeat(15_000)}`),
  },
  frames: [
    {
      title: 'binary reports, with names of values and without, a keep-alive, a photo',
      frames: [
        { frame: binary(record(), record()), device: IMEI, fixes: [FIX, FIX], reply: ACK },
        {
          frame: binary(record('%CI%SA%MV%BV%IN0%VN%PC%AT\0', '0c0085002901313233000001000f0000002d'), record()),
          device: IMEI,
          fixes: [
            {
              ...FIX,
              satellites: 12,
              altitude: 45,
              said: { external_voltage: 13.3, battery_voltage: 4.1, ignition: true },
            },
            FIX,
          ],
          reply: ACK,
        },
        { frame: binary(record('', '', true)), device: IMEI, fixes: [FIX], reply: ACK },
        { frame: binary(record('%CI%ZZ\0', '01'), record()), device: IMEI, fixes: [FIX, FIX], reply: ACK },
        { frame: binary(record('', '0102030405'), record()), device: IMEI, fixes: [FIX, FIX], reply: ACK },
        {
          frame: binary(record('%CI%SA%ZZ\0', `0c${'01'.repeat(60)}`)),
          device: IMEI,
          fixes: [{ ...FIX, satellites: 12 }],
          reply: ACK,
        },
        { frame: beginningLikeText(), device: IMEI, fixes: [FIX], reply: ACK },
        { frame: ACK, device: IMEI, none: 'heartbeat', reply: ACK },
        { frame: binary(Buffer.alloc(50), Buffer.alloc(0), '@R'), device: IMEI, none: 'photo', reply: ACK },
        { frame: '$OK\r\n', none: 'command answer' },
      ],
    },
    {
      title: 'lines',
      settings: { form: '%AT%SA' },
      frames: [
        {
          frame: text(
            `${TEXT}\x1a,45,12\r\n${TEXT}\x1a,%CI%MV%IN0%SA,133,0,9\r\n${TEXT}\x1a,%CI%GL%RP%SA,${LINK},980,9\r\n`,
          ),
          device: IMEI,
          fixes: [
            { ...FIX, altitude: 45, satellites: 12 },
            { ...FIX, satellites: 9, said: { external_voltage: 13.3, ignition: false } },
            { ...FIX, satellites: 9 },
          ],
          reply: ACK,
        },
        {
          frame: text(`${TEXT}\r\n${TEXT.replace(String(SECONDS), '20240501101530')}\r\nx\r\n`),
          device: IMEI,
          fixes: [FIX, FIX],
          unreadable: [2],
          reply: ACK,
        },
        {
          frame: text(`${TEXT.replace('0,0,,', '0,0,1858AE010000,')}\x1a,%CI%BV%MT,41,1\r\n`),
          device: IMEI,
          fixes: [{ ...FIX, said: { driver: '1858AE010000', battery_voltage: 4.1, moving: true } }],
          reply: ACK,
        },
        { frame: text('x\r\n'), error: 'malformed', envelope: { device: IMEI, reply: ACK } },
      ],
    },
    {
      title: 'a keep-alive, a report, lines in one datagram',
      transport: 'udp',
      frames: [
        { frame: ACK, device: IMEI, none: 'heartbeat', reply: ACK },
        { frame: binary(record()), device: IMEI, fixes: [FIX], reply: ACK },
        { frame: text(`${TEXT}\r\n`), device: IMEI, fixes: [FIX], reply: ACK },
      ],
    },
    {
      title: 'a unit with an id of 18 digits',
      frames: [
        {
          frame: binary(record(), Buffer.alloc(0), '@P', LONG_ID),
          device: String(LONG_ID),
          fixes: [FIX],
          reply: bytes('fe02 04aa83260409497e 0007'),
        },
      ],
    },
    {
      title: 'a report with values that the setting names',
      settings: { form: '%AT%SA' },
      frames: [
        {
          frame: binary(record('', '0000002d0c')),
          device: IMEI,
          fixes: [{ ...FIX, altitude: 45, satellites: 12 }],
          reply: ACK,
        },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the answer names the unit id and the sequence number of a report in text too (ATrack, acknowledgement)',
      says({ input, deviceId, replies }) {
        const fields = Buffer.from(input.hex ?? '', 'hex')
          .toString('latin1')
          .split(',', 4)
        if (fields[0] !== '@P' || !replies) return undefined
        const answer = new ByteWriter().hex('fe02').u64(Number(deviceId)).u16(Number(fields[3])).toBuffer()
        return { replies: [{ hex: answer.toString('hex') }] }
      },
    },
    {
      reason: 'the answer to a command holds no position',
      frames: ['atrack-027', 'atrack-028'],
      says: { positions: [] },
    },
  ],
} satisfies ProtocolCases

function binary(first: Buffer, second: Buffer = Buffer.alloc(0), prefix = '@P', id = BigInt(IMEI)): Buffer {
  const content = new ByteWriter().u16(7).hex(id.toString(16).padStart(16, '0')).bytes(first).bytes(second).toBuffer()
  const covered = new ByteWriter().u16(content.length).bytes(content).toBuffer()
  return new ByteWriter().ascii(prefix).u16(crc16Arc(covered)).bytes(covered).toBuffer()
}

function record(names = '', values = '', isLong = false): Buffer {
  const w = new ByteWriter()
  for (const seconds of [SECONDS, SECONDS + 1, SECONDS + 2])
    if (isLong) w.u16(2024).hex('05010a0f1e')
    else w.u32(seconds)
  w.u32(-13_410_000).u32(52_525_000).u16(270).u8(2).u32(1234).u16(9).u8(1).u16(36).u8(0).u16(0).u8(0)
  return w.u16(2000).u16(2000).u8(0).ascii(names).hex(values).toBuffer()
}

function text(records: string): Buffer {
  const content = `,7,${IMEI},${records}`
  const covered = `,${content.length}${content}`
  const checksum = crc16Arc(Buffer.from(covered, 'latin1')).toString(16).toUpperCase().padStart(4, '0')
  return Buffer.from(`@P,${checksum}${covered}`, 'latin1')
}

/** A binary frame whose checksum begins with a comma: lines have one at the same place. */
function beginningLikeText(): Buffer {
  for (let own = 0; ; own++) {
    const frame = binary(record('', own.toString(16).padStart(4, '0')))
    if (frame[2] === 0x2c) return frame
  }
}
