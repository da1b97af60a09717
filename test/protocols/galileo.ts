import { ByteWriter, crc16Modbus } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const ID = '861234567890123'
const IMEI = `03${Buffer.from(ID).toString('hex')}`

function packet(kind: number, content: string, more = 0): Buffer {
  const body = bytes(content)
  return new ByteWriter()
    .u8(kind)
    .u16le(body.length | more)
    .bytes(body)
    .crc16le(crc16Modbus)
    .toBuffer()
}

/** What acknowledges a packet: its checksum. */
const ack = (frame: Buffer, kind = 2) => Buffer.concat([Buffer.of(kind), frame.subarray(-2)])

/** 2024-05-01 23:15:30, 52.525° N, 13.41° E, 9 satellites, 36 km/h, 270.5°, 34 m, HDOP 0.9. */
const PLACE = new ByteWriter().u32le(52_525_000).u32le(13_410_000).toBuffer().toString('hex')
const TIME = new ByteWriter()
  .u32le(Date.UTC(2024, 4, 1, 23, 15, 30) / 1000)
  .toBuffer()
  .toString('hex')
const record = (source = '0') =>
  `04 3200 10 0101 20 ${TIME} 30 ${source}9 ${PLACE} 33 6801910a 34 2200 35 09 40 00a0 e2 00000000`
const FIX = {
  time: '2024-05-01T23:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  speed: 10,
  heading: 270.5,
  altitude: 34,
  hdop: 0.9,
  satellites: 9,
  said: { ignition: false, moving: false },
}

/** A place by cells has an error of 90 m, where others have the HDOP. */
const { hdop: _, ...WITHOUT_HDOP } = FIX
const OF_CELLS = { ...WITHOUT_HDOP, accuracy: 90 }

const ARCHIVE = packet(1, `${record()} ${record('7')} ${record('2')}`, 0x8000)
const TEN = packet(1, record().repeat(10))
const HEAD = packet(1, `0182 0211 ${IMEI} 043200`)
const COMMAND = packet(1, `${IMEI} 043200 e001000000 e1024f4b`)
const UNKNOWN = packet(1, `${record()} ff 00`)
const ONLY_UNKNOWN = packet(1, 'ff00')
const WITH_TEXTS = packet(1, `${record()} 780100 7d0200 ea0201ff fe0300aabbcc`)
const SAYING = packet(1, `${record().replace('40 00a0', '40 0102')} 41 d430 42 0410 90 02010000`)
const UNMEASURED = packet(1, `${record()} 41 ffff 42 ffff`)
const TRUNCATED = packet(8, '00')
const PHOTO = packet(7, '00ffd8ffd9')

const bit = (value: number, width: number) => value.toString(2).padStart(width, '0')

/** A record of a compressed packet: bits as the specification draws them. */
function minimal(seconds: number, noFix: number): string {
  const longitude = Math.round(((13.41 + 180) / 360) * 2 ** 22)
  const latitude = Math.round(((52.525 + 90) / 180) * 2 ** 21)
  const bits = `0${bit(seconds, 25)}${noFix}${bit(longitude, 22)}${bit(latitude, 21)}${'0'.repeat(10)}`
  return BigInt(`0b${bits}`).toString(16).padStart(20, '0')
}

/** 2026-11-20 11:00:00, an hour before the arrival. */
const SECONDS = (Date.UTC(2026, 10, 20, 11) - Date.UTC(2026, 0, 1)) / 1000
const COMPRESSED = packet(8, `${minimal(SECONDS, 0)} 02 33 34 6801910a 2200 ${minimal(SECONDS, 1)} 00`)
const COMPRESSED_FIX = {
  time: '2026-11-20T11:00:00Z',
  latitude: (180 * Math.round(((52.525 + 90) / 180) * 2 ** 21)) / 2 ** 21 - 90,
  longitude: (360 * Math.round(((13.41 + 180) / 360) * 2 ** 22)) / 2 ** 22 - 180,
}

const SHORT_BURST = (payload: string) => {
  const body = bytes(`01 001c 00000000 ${Buffer.from(ID).toString('hex')} 00 0001 0000 66330ef2 ${payload}`)
  return new ByteWriter().u8(1).u16(body.length).bytes(body).toBuffer()
}

export default {
  costly: {
    'tags without end': packet(1, 'a000'.repeat(16_000)),
    'places without end': packet(1, '30090000000000000000'.repeat(3270)),
    'records without tags': packet(8, '0'.repeat(22).repeat(2970)),
  },
  frames: [
    {
      title: 'a head, an archive of three records, other packets',
      frames: [
        { frame: HEAD, device: ID, none: 'no place', reply: ack(HEAD) },
        { frame: ARCHIVE, fixes: [FIX, { ...FIX, valid: false }, OF_CELLS], reply: ack(ARCHIVE) },
        { frame: TEN, isTypical: true, fixes: Array.from({ length: 10 }, () => FIX), reply: ack(TEN) },
        { frame: WITH_TEXTS, fixes: [FIX], reply: ack(WITH_TEXTS) },
        {
          frame: SAYING,
          fixes: [
            {
              ...FIX,
              said: { ignition: true, moving: true, external_voltage: 12.5, battery_voltage: 4.1, driver: '258' },
            },
          ],
          reply: ack(SAYING),
        },
        { frame: UNMEASURED, fixes: [FIX], reply: ack(UNMEASURED) },
        { frame: COMMAND, device: ID, none: 'command answer', reply: ack(COMMAND) },
        { frame: UNKNOWN, fixes: [FIX], unreadable: [1], reply: ack(UNKNOWN) },
        { frame: ONLY_UNKNOWN, fixes: [], reply: ack(ONLY_UNKNOWN) },
        { frame: PHOTO, none: 'photo', reply: ack(PHOTO, 7) },
      ],
    },
    {
      title: 'a compressed packet: the year is the nearest',
      frames: [
        {
          frame: COMPRESSED,
          fixes: [
            { ...COMPRESSED_FIX, speed: 10, heading: 270.5, altitude: 34 },
            { ...COMPRESSED_FIX, valid: false },
          ],
          reply: ack(COMPRESSED),
        },
        { frame: TRUNCATED, error: 'truncated', envelope: { reply: ack(TRUNCATED) } },
      ],
    },
    {
      title: 'a short burst of Iridium',
      frames: [
        {
          frame: SHORT_BURST(`03 000b 00 34 7b0c 0d 6018 00000003 02 000f 20 ${TIME} 30 09 ${PLACE}`),
          device: ID,
          fixes: [{ time: FIX.time, latitude: 52.525, longitude: 13.41, satellites: 9 }],
        },
        { frame: SHORT_BURST(''), device: ID, none: 'no place' },
      ],
    },
  ],
} satisfies ProtocolCases
