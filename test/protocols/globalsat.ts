import { knots, xor } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const PLACE = '3,201126,171418,W01324.6000,N5231.5000,34.5,12.5,270,9,0.8'
const FIX = {
  time: '2026-11-20T17:14:18Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34.5,
  speed: knots(12.5),
  heading: 270,
  satellites: 9,
  hdop: 0.8,
}
const signed = (text: string) => `${text}*${xor(Buffer.from(text)).toString(16).padStart(2, '0')}!`

export default {
  costly: {
    commas: signed(`GSr,${ID}${many(',')}`),
    'one number': signed(`GSr,${ID},1,2,3,3,201126,171418,W${many('1')}`),
  },
  frames: [
    {
      title: 'reports',
      frames: [
        {
          frame: signed(`GSr,GTR-128,${ID},0040,5,0080,${PLACE},60%,0,0,12,"310,410,0bdd,050d,02,21"`),
          device: ID,
          fixes: [{ ...FIX, said: { battery_percent: 60, alarms: ['power_cut'] } }],
          reply: 'ACK\r',
        },
        {
          frame: signed(`GSr,${ID},4,K,81,,${PLACE}`),
          device: ID,
          fixes: [{ ...FIX, said: { alarms: ['sos', 'low_battery'] } }],
          reply: 'ACK\r',
        },
        {
          frame: signed(`GSr,${ID},4,5,00,,${PLACE.replace('3', '1')},64`),
          device: ID,
          fixes: [{ ...FIX, valid: false, said: { battery_percent: 64 } }],
          reply: 'ACK\r',
        },
        {
          frame: signed(`GSr,,${ID},00,5,${PLACE},13,3`),
          device: ID,
          fixes: [FIX],
          reply: 'ACK\r',
        },
        { frame: `$${ID},1,${PLACE}!`, device: ID, fixes: [FIX] },
        { frame: signed(`GSr,${ID},0040,1,2,a080,5,${PLACE}`), device: ID, fixes: [FIX], reply: 'ACK\r' },
        { frame: signed(`GSr,${ID},${PLACE}`), device: ID, fixes: [FIX], reply: 'ACK\r' },
        {
          frame: signed(`GSb,Unit 7,${ID},0000,5,8080,0${PLACE},12380mV,3128mV,0,0,11`),
          device: ID,
          fixes: [{ ...FIX, said: { external_voltage: 12.38, battery_voltage: 3.128 } }],
          reply: 'ACK\r',
        },
        { frame: signed(`GSs,${ID},1,0,O5=test,A0=1`), device: ID, none: 'command answer' },
        { frame: signed(`GSd,${ID},4,310,410,0bdd,050d`), device: ID, none: 'cells', reply: 'ACK\r' },
        {
          frame: signed(`GSh,${ID},00,3,53`),
          device: ID,
          none: 'status',
          said: { battery_percent: 53 },
          reply: 'ACK\r',
        },
        {
          frame: signed(`GSh,${ID},01,3,53`),
          device: ID,
          none: 'status',
          said: { battery_percent: 53, alarms: ['sos'] },
          reply: 'ACK\r',
        },
        {
          frame: signed(`GSh,${ID},0001,3,53`),
          device: ID,
          none: 'status',
          said: { battery_percent: 53 },
          reply: 'ACK\r',
        },
        { frame: signed(`GSr,GTR-128,${ID},1`), device: ID, fixes: [], reply: 'ACK\r' },
        { frame: signed(`GSr,${ID},1`).replace('*', '1*'), error: 'checksum' },
      ],
    },
    {
      title: 'a report over UDP',
      transport: 'udp',
      frames: [{ frame: signed(`GSr,${ID},${PLACE}`), device: ID, fixes: [FIX], reply: 'ACK\r' }],
    },
  ],
  corrections: [
    {
      reason: 'the device is its IMEI, not its model: the format that is configured is not that of the frame',
      frames: ['globalsat-009'],
      says: (vector) => ({
        deviceId: '013227006963064',
        positions: vector.positions.map((position) => ({ ...position, deviceId: '013227006963064' })),
      }),
    },
  ],
} satisfies ProtocolCases
