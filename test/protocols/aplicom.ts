import { ByteWriter } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '357300070000777'
const SECONDS = Date.UTC(2024, 4, 1, 23, 15, 30) / 1000

function packet(kind: string, mask: string, content: Buffer): Buffer {
  const w = new ByteWriter().ascii(kind).u8(0xc3).hex(BigInt(ID).toString(16).padStart(14, '0')).u16(content.length)
  return w.hex(mask).bytes(content).toBuffer()
}

const place = (flags: string) =>
  new ByteWriter()
    .hex(`7700${flags}`)
    .u32(SECONDS + 1)
    .u32(SECONDS)
    .u32(52_525_000)
    .u32(13_410_000)
const SNAPSHOT = Buffer.concat([place('f0').toBuffer(), bytes('0924258700ff')])
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41 }
const MOVING = { ...FIX, speed: 10, heading: 270, satellites: 9 }

export default {
  costly: { zeros: Buffer.concat([packet('D', '00001f', SNAPSHOT), Buffer.alloc(COSTLY_SIZE)]) },
  frames: [
    {
      title: 'snapshots by their masks, other packets',
      frames: [
        { frame: packet('D', '00b45f', SNAPSHOT), device: ID, fixes: [MOVING] },
        {
          frame: packet(
            'D',
            '03ffdf',
            Buffer.concat([SNAPSHOT.subarray(0, -2), bytes('00'.repeat(33)), bytes('ffda 0029')]),
          ),
          device: ID,
          fixes: [{ ...MOVING, altitude: -38, said: { external_voltage: 0, battery_voltage: 0 } }],
        },
        {
          frame: packet(
            'D',
            '031fff',
            Buffer.concat([SNAPSHOT.subarray(0, -2), bytes('00'.repeat(37)), bytes('0099 0001')]),
          ),
          device: ID,
          fixes: [{ ...MOVING, altitude: 153 }],
        },
        {
          frame: packet('D', '00000f', place('00').hex('05').toBuffer()),
          device: ID,
          fixes: [{ ...FIX, satellites: 5, valid: false }],
        },
        {
          frame: packet(
            'D',
            '00b65f',
            Buffer.concat([place('f0').toBuffer(), bytes('09242587 83 387c 0fe6 00 0000 17bd1cb3 000a')]),
          ),
          device: ID,
          fixes: [{ ...MOVING, said: { external_voltage: 14.46, battery_voltage: 4.07, driver: '0398269619' } }],
        },
        {
          frame: packet(
            'D',
            '00a37f',
            Buffer.concat([
              place('f0').toBuffer(),
              bytes(`09242587 83 ${'00'.repeat(8)} 387c 0fe6 ${'00'.repeat(11)}`),
            ]),
          ),
          device: ID,
          fixes: [{ ...MOVING, said: { external_voltage: 14.46, battery_voltage: 4.07 } }],
        },
        {
          frame: packet('D', '00805f', Buffer.concat([place('f0').toBuffer(), bytes('09242587 83 387c')])),
          device: ID,
          fixes: [MOVING],
        },
        { frame: packet('D', '007ff7', bytes('07006632cd12 000000')), device: ID, none: 'no place' },
        {
          frame: packet('D', '008057', bytes('07006632cd12 000000 83 387c 0fe6 00')),
          device: ID,
          none: 'no place',
          said: { external_voltage: 14.46, battery_voltage: 4.07 },
        },
        { frame: packet('D', '00001e', SNAPSHOT), device: ID, fixes: [] },
        {
          frame: new ByteWriter().hex('440129d684').u16(SNAPSHOT.length).bytes(SNAPSHOT).toBuffer(),
          device: '2741892',
          fixes: [MOVING],
        },
        { frame: packet('E', '0161ef', bytes('1700')), device: ID },
        { frame: packet('D', '00001f', bytes('7700')), error: 'truncated', envelope: { device: ID } },
      ],
    },
  ],
  exceptions: { 'aplicom-022': 'its id is the end of an IMEI, whose beginning the peer makes up' },
} satisfies ProtocolCases
