import { ByteWriter, crc16CcittFalse } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const RMC = '101530.000,A,5231.5000,N,01324.6000,W,19.438445,270.5,010524,,*1C'
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: 10,
  heading: 270.5,
}

export default {
  costly: {
    'a report of many fields': frame(0x9955, `${RMC}${many('|')}`),
    'records that are none': frame(0x6688, `\x01${many('\\')}`),
    'bad records': frame(0x6688, `\x01${many('x\\')}`),
  },
  frames: [
    {
      title: 'a login, reports, an alarm, records',
      frames: [
        { frame: frame(0x5000, ''), device: '13612345678', none: 'login', reply: frame(0x4000, '\x01', '@@') },
        {
          frame: frame(0x9955, `${RMC}|0.9|34.5|0000|0010,0020|0262000112345678|0F|0001E240|0C`),
          device: '13612345678',
          fixes: [{ ...FIX, hdop: 0.9, altitude: 34.5, satellites: 12 }],
        },
        {
          frame: frame(0x9999, `\x11${RMC.replace(',A,', ',V,')}|0.0|0|0000`),
          device: '13612345678',
          fixes: [{ ...FIX, valid: false, altitude: 0 }],
        },
        {
          frame: frame(0x9999, `\x50${RMC}|0.9|34|0000|0010,0020|000930116|007ae105`),
          device: '13612345678',
          fixes: [{ ...FIX, hdop: 0.9, altitude: 34, said: { driver: '007ae105', alarms: ['power_cut'] } }],
        },
        {
          frame: frame(0x9999, '\x01101530.000,V,,,,,,,010524,,*1C|0.0|0|0000'),
          device: '13612345678',
          none: 'no place',
          said: { alarms: ['sos'] },
        },
        {
          frame: frame(0x9955, RMC.replace('010524', '310224')),
          error: 'malformed',
          envelope: { device: '13612345678' },
        },
        {
          frame: frame(0x6688, `\x02\x00${RMC}|1.2|7|0\\\x00${RMC.replace('N', 'S')}|1.2|7|0\\`),
          device: '13612345678',
          fixes: [
            { ...FIX, hdop: 1.2, altitude: 7 },
            { ...FIX, latitude: -52.525, hdop: 1.2, altitude: 7 },
          ],
        },
        {
          frame: frame(0x9966, `\x00\x12\xb3\xab${'\x00'.repeat(56)}|101530,010524,5231.5000,N,01324.6000,W`),
          device: '13612345678',
          fixes: [{ time: FIX.time, latitude: FIX.latitude, longitude: FIX.longitude, said: { driver: '0001225643' } }],
        },
        {
          frame: frame(0x9966, `\x00\x00\x00\x00${'\x7c\x00'.repeat(28)}|101530,010524,5231.5000,N,01324.6000,W`),
          device: '13612345678',
          fixes: [{ time: FIX.time, latitude: FIX.latitude, longitude: FIX.longitude }],
        },
        {
          frame: frame(0x9955, `${RMC}|0.9|34.5|0000|0010,0020|0262000112345678|0208000589E01E8C84|0F|0001E240|0C`),
          device: '13612345678',
          fixes: [{ ...FIX, hdop: 0.9, altitude: 34.5, satellites: 12 }],
        },
        {
          frame: frame(0x9955, '101530.000,V,,,,,,,010524,,*1C|0.0|0|0000'),
          device: '13612345678',
          none: 'no place',
        },
        { frame: frame(0x9955, 'no report'), device: '13612345678', fixes: [] },
        { frame: frame(0x9988, '\x02\xff\xd8'), device: '13612345678', none: 'photo' },
        { frame: frame(0x9903, 'C1E88'), device: '13612345678', none: 'status' },
        {
          frame: frame(0x9016, `${RMC}|0.9|-34.5|0000`),
          device: '13612345678',
          fixes: [{ ...FIX, hdop: 0.9, altitude: -34.5 }],
        },
        {
          frame: frame(0x9017, `\x01\x02${RMC}|0.9|-34.5|0000`),
          device: '13612345678',
          fixes: [{ ...FIX, hdop: 0.9, altitude: -34.5 }],
        },
        { frame: frame(0x4101, ''), device: '13612345678' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'a photo would be downloaded over the SIM card of the device and thrown away: nothing asks for it',
      frames: ['meiligao-004'],
      says: { replies: [] },
    },
  ],
} satisfies ProtocolCases

function frame(type: number, data: string, start = '$$'): Buffer {
  const w = new ByteWriter().ascii(start).u16((17 + data.length) & 0xffff)
  return w.hex('1361234567 8fff'.replace(' ', '')).u16(type).ascii(data).crc16(crc16CcittFalse).ascii('\r\n').toBuffer()
}
