import { ByteWriter } from '../../protocols/kit/index.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'
import { eachSaid } from '../support/vectors/corrections.ts'

const IMEI = '869153042523784'
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.5,
  longitude: -13.25,
  altitude: -12,
  speed: 10,
  heading: 270.5,
  satellites: 9,
  hdop: 0.7,
  said: { external_voltage: 12.345, battery_voltage: 4.021 },
}

export default {
  costly: { 'a record and more': Buffer.concat([report(0), Buffer.alloc(65_000)]) },
  frames: [
    {
      title: 'a login and reports',
      frames: [
        {
          frame: new ByteWriter().hex('00004203').ascii(IMEI).hex('00'.repeat(47)).toBuffer(),
          device: IMEI,
          none: 'login',
        },
        { frame: report(0), fixes: [FIX] },
        { frame: report(0x20), fixes: [{ ...FIX, valid: false }] },
        { frame: Buffer.concat([Buffer.from(IMEI), report(0)]), device: IMEI, fixes: [FIX] },
        { frame: Buffer.from(`01008400${'00'.repeat(128)}`, 'hex'), none: 'command answer' },
        { frame: Buffer.from('01000502ff', 'hex') },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the last byte, 30, belongs to the tagged values at the end: no battery of a tracker has 30 V',
      frames: ['adm-004'],
      says: eachSaid((said) => ({ ...said, batteryV: 0 })),
    },
    {
      reason: 'three records came at once: each is a frame of its own',
      frames: ['adm-002'],
      says: ({ positions: [first] }) => ({
        positions: [
          first,
          {
            ...first,
            time: '2021-01-04T14:17:18.000Z',
            lat: 55.77866,
            lon: 37.611237,
            sat: 9,
            said: { powerV: 12, batteryV: 2.202 },
          },
          {
            ...first,
            time: '2021-01-04T14:18:18.000Z',
            lat: 55.77866,
            lon: 37.611237,
            said: { powerV: 12, batteryV: 1.866 },
          },
        ],
      }),
    },
  ],
} satisfies ProtocolCases

function report(status: number): Buffer {
  const place = Buffer.alloc(8)
  place.writeFloatLE(FIX.latitude, 0)
  place.writeFloatLE(FIX.longitude, 4)
  const w = new ByteWriter()
    .hex('01002604330700')
    .u16le(0x2000 | status)
    .bytes(place)
    .u16le(2705)
    .u16le(360)
    .u8(1)
  return w
    .u16le(-12 & 0xffff)
    .u8(7)
    .u8(0x59)
    .u32le(Date.parse(FIX.time) / 1000)
    .hex('3930b50f00000000')
    .toBuffer()
}
