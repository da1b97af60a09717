import { ByteWriter } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'
import { eachSaid } from '../support/vectors/corrections.ts'

const TIME = '1805010a0f1e'
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  speed: 10,
  heading: 270,
  satellites: 9,
}

export default {
  costly: { 'a status of 64 KB': frame('0a13', '41'.repeat(65_000)), cells: `xx\xff\x18${many('x')}` },
  frames: [
    {
      title: 'login, positions, cells, status, time',
      frames: [
        {
          frame: frame('0d01', '035933907541696301'),
          device: '359339075416963',
          none: 'login',
          reply: frame('0101', ''),
        },
        { frame: frame('1210', gps('150e')), fixes: [FIX], reply: frame('1210', TIME) },
        {
          frame: frame('1211', gps('090e')),
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41, valid: false }],
          reply: frame('1211', TIME),
        },
        { frame: frame('1511', `${gps('150e')}000d00`), fixes: [{ ...FIX, altitude: 13 }], reply: frame('1511', TIME) },
        { frame: frame('1511', `${gps('150e')}ffff00`), fixes: [{ ...FIX, altitude: -1 }], reply: frame('1511', TIME) },
        {
          frame: frame('2008', `${TIME}340802c80d0641900000`),
          fixes: [{ time: FIX.time, latitude: 52.525, longitude: 13.41 }],
        },
        { frame: frame('2008', `${TIME}df0802c80d0641900000`), fixes: [] },
        { frame: frame('2008', `${TIME}340802c88b0641900000`), fixes: [] },
        { frame: frame('0108', ''), none: 'heartbeat' },
        {
          frame: frame('0118', '2405011015301475905bd30e2501cc00'),
          none: 'cells',
          reply: frame('0118', '240501101530'),
        },
        {
          frame: frame('011a', '2405011015300d0a3b813c3303010602001d240b4bc7016d00'),
          none: 'cells',
          reply: frame('011a', '240501101530'),
        },
        {
          frame: frame('0713', '514d081964'),
          none: 'status',
          said: { battery_percent: 81 },
          reply: frame('0713', '514d081964'),
        },
        { frame: frame('0130', ''), none: 'time', reply: frame('0730', '07ea0b140c0000') },
        { frame: frame('0194', ''), none: 'status', said: { alarms: ['vibration'] } },
        { frame: frame('0199', ''), none: 'status', said: { alarms: ['sos'] } },
        { frame: frame('0182', ''), none: 'status', said: { charging: true } },
        {
          frame: frame('1210', gps('150e').replace(TIME, '180d010a0f1e')),
          error: 'malformed',
          envelope: { reply: frame('1210', '180d010a0f1e') },
        },
        { frame: frame('0155', '') },
      ],
    },
  ],
  corrections: [
    {
      reason: 'type 69 is a position by Wi-Fi and cells; 94 is the vibration',
      frames: ['topin-003'],
      says: eachSaid((each) => ({ ...each, alarms: undefined })),
    },
  ],
} satisfies ProtocolCases

function frame(head: string, content: string): Buffer {
  return new ByteWriter().hex('7878').hex(head).hex(content).ascii('\r\n').toBuffer()
}

function gps(flags: string): string {
  const w = new ByteWriter()
    .hex(TIME)
    .u8(0x99)
    .u32(52.525 * 1_800_000)
    .u32(13.41 * 1_800_000)
    .u8(36)
    .hex(flags)
  return w.toBuffer().toString('hex')
}
