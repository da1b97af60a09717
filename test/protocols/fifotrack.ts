import { xor } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '866104023000777'
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: -13.41, speed: 10, heading: 270, altitude: 34 }
const PLACE = '240501231530,A,52.525000,-13.410000,36,270,34,17929,0000,0,,246|1|65|96DB,936|0'

function line(content: string, start = '$$'): string {
  const rest = `,${ID},1A,${content}`
  const text = `${start}${rest.length}${rest}`
  const checksum = xor(Buffer.from(text)).toString(16).toUpperCase().padStart(2, '0')
  return `${text}*${checksum}\r\n`
}

const BATTERY = { battery_voltage: 4.18, battery_percent: 100 }
const REPLY = line('A03,261120120000', '##')

export default {
  costly: { 'one field': line(`A01,${many('1')}`), 'empty fields': line(`A03${many(',')}`) },
  frames: [
    {
      title: 'positions',
      frames: [
        { frame: line(`A00,${PLACE}`), device: ID, fixes: [FIX] },
        { frame: line(`A01,,${PLACE}`), device: ID, fixes: [FIX] },
        {
          frame: line(`A01,,${PLACE.replace('0000,0,', '52,900000C0,02,')}`),
          device: ID,
          fixes: [{ ...FIX, satellites: 9 }],
        },
        { frame: line(`A02,38,${PLACE.replace('A', 'V')}`), device: ID, fixes: [{ ...FIX, valid: false }] },
        { frame: line(`A07,38,${PLACE}`), device: ID, fixes: [FIX] },
        {
          frame: line(`A01,2,${PLACE.replace('17929', '17929,5')},B48CEB,`),
          device: ID,
          fixes: [{ ...FIX, said: { driver: '11832555', alarms: ['sos'] } }],
        },
        {
          frame: line(`A01,,${PLACE.replace('17929', '17929,5')},%  ^YEN$SONG$MR.^^?;60076431=1505=?+,`),
          device: ID,
          fixes: [FIX],
        },
        {
          frame: line('A03,,240231231530,460|0|25FC|104C,4.18,100,000F,0,A,36,9,52.525,-13.41'),
          error: 'malformed',
          envelope: { device: ID, reply: REPLY },
        },
        {
          frame: line('A01,,240501231530,A,52.525,-13.41,36'),
          device: ID,
          fixes: [{ ...FIX, heading: undefined, altitude: undefined }],
        },
        {
          frame: line('A03,,240501231530,460|0|25FC|104C,4.18,100,000F,0,A,36,9,52.525,-13.41'),
          device: ID,
          fixes: [{ time: FIX.time, latitude: 52.525, longitude: -13.41, speed: 10, satellites: 9, said: BATTERY }],
          reply: REPLY,
        },
      ],
    },
    {
      title: 'no position',
      frames: [
        {
          frame: line('A03,,240501231530,460|0|25FC|104C,4.18,100,000F,1,94D9B377EB53:-60'),
          device: ID,
          none: 'wifi',
          said: BATTERY,
          reply: REPLY,
        },
        {
          frame: line('A03,,240501231530,460|0|25FC|104C,4.18,100,000F,0,V,,0,,'),
          device: ID,
          none: 'no fix',
          said: BATTERY,
          reply: REPLY,
        },
        { frame: line('A01,,240501231530,V,,,0,0,,17929,0000'), device: ID, none: 'no fix' },
        { frame: line('B03,OK'), device: ID, none: 'command answer' },
        { frame: line('S09,OK'), device: ID, none: 'command answer' },
        { frame: line('D05,240501231530,52.525,13.41,1,1,1,13152,23FFD339'), device: ID, none: 'photo' },
        { frame: line('Z01,1'), device: ID },
        { frame: line('A01,,2405'), device: ID, fixes: [] },
      ],
    },
  ],
  corrections: [
    {
      reason: '"Q3 command list", §1: the checksum is the XOR in both directions, where the peer answers with a sum',
      frames: ['fifotrack-002', 'fifotrack-003'],
      says: { replies: [{ text: '##35,866104023192332,1,A03,261120120000*44\r\n' }] },
    },
    {
      reason: 'an answer to a command holds no position',
      frames: ['fifotrack-005'],
      says: { positions: [] },
    },
    {
      reason: 'this is a request for a part of a photo, not an answer to a position',
      frames: ['fifotrack-010', 'fifotrack-011'],
      says: { replies: [] },
    },
  ],
} satisfies ProtocolCases
