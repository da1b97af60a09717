import { ByteWriter, crc8Egts } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '861261070000777'
const SECONDS = Date.UTC(2024, 4, 1, 23, 15, 30) / 1000
const FIX = {
  time: '2024-05-01T23:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: 10,
  hdop: 0.9,
  heading: 270,
  altitude: 34,
  satellites: 9,
}
const SHORT_FIX = { time: FIX.time, latitude: FIX.latitude, longitude: FIX.longitude, speed: FIX.speed }
const BASE = new ByteWriter().hex('09').u32(-13_410_000).u32(52_525_000).u32(SECONDS).hex('0168').toBuffer()
const PLACE = new ByteWriter().hex('5216').bytes(BASE).hex('09010e00015409').toBuffer()
const SHORT_PLACE = new ByteWriter().hex('510f').bytes(BASE).toBuffer()
const BATTERY = bytes('6105010f404a00')
const NAME = bytes('0205' + Buffer.from('Truck').toString('hex'))

/** A record with its kind, event and data; one of 128 bytes has two for its length. */
function record(...data: readonly Buffer[]): Buffer {
  const content = new ByteWriter()
    .u32(SECONDS + 60)
    .hex('2ca75000')
    .bytes(Buffer.concat(data))
    .toBuffer()
  const w = new ByteWriter()
  if (content.length < 0x7f) w.u8(content.length + 1)
  else w.u16(0x8000 | (content.length + 2))
  return w.bytes(content).toBuffer()
}

function report(records: readonly Buffer[], { start = '2b', flags = '00', reserved = '00' } = {}): Buffer {
  const head = `${flags}0${ID}c031000a00${reserved}`
  const content = Buffer.concat([...records, bytes('1f3d')])
  const w = new ByteWriter().hex(`${start}00`).u16(head.length / 2 + content.length + 6)
  return w.hex(head).bytes(content).sum(crc8Egts).hex('24').toBuffer()
}

const heartbeat = () =>
  new ByteWriter().hex(`2b10180${ID}c031000a00`).u32(SECONDS).hex('10f2').sum(crc8Egts).hex('24').toBuffer()

export default {
  costly: {
    zeros: Buffer.concat([report([record(PLACE)]), Buffer.alloc(COSTLY_SIZE)]),
    'a record of empty data': report([record(bytes('0200'.repeat(900)))]),
  },
  frames: [
    {
      title: 'a position, one with data before and behind it, several records, one without a position',
      frames: [
        { frame: report([record(PLACE)]), device: ID, fixes: [FIX] },
        {
          frame: report([record(NAME, PLACE, BATTERY)], { start: '2d' }),
          device: ID,
          fixes: [{ ...FIX, said: { battery_voltage: 3.904, battery_percent: 74 } }],
        },
        {
          frame: report([record(NAME, SHORT_PLACE, bytes('550e' + '00'.repeat(14))), record(PLACE), record(BATTERY)]),
          device: ID,
          fixes: [SHORT_FIX, FIX],
        },
        { frame: report([record(bytes('5870' + '00'.repeat(0x70)), PLACE)]), device: ID, fixes: [FIX] },
        { frame: report([record(PLACE)], { flags: '800201', reserved: '021234' }), device: ID, fixes: [FIX] },
        {
          frame: report([record(BATTERY)]),
          device: ID,
          none: 'no place',
          said: { battery_voltage: 3.904, battery_percent: 74 },
        },
        { frame: report([record(bytes('7f0100'))]), device: ID },
        { frame: report([record(PLACE), record(bytes('520109'))]), device: ID, fixes: [FIX], unreadable: [1] },
        { frame: report([record(bytes('521609'))]), error: 'truncated', envelope: { device: ID } },
      ],
    },
    {
      title: 'positions around an accident, of both kinds, and data of a receiver that is off',
      frames: [
        {
          frame: report([record(bytes('8090 8022 00 20 01 01'), BASE, BASE)]),
          device: ID,
          fixes: [SHORT_FIX, SHORT_FIX],
        },
        {
          frame: report([record(bytes('8090 801a 01 31 00 01'), PLACE.subarray(2), BATTERY)]),
          device: ID,
          fixes: [{ ...FIX, said: { battery_voltage: 3.904, battery_percent: 74 } }],
        },
        { frame: report([record(bytes('8090 8013 01 41 00 01'), BASE)]), device: ID },
        { frame: report([record(bytes('5200 5100'))]), device: ID, none: 'no place' },
      ],
    },
    { title: 'a heartbeat', frames: [{ frame: heartbeat(), device: ID, none: 'heartbeat' }] },
  ],
} satisfies ProtocolCases
