import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '8800000123'
const PLACE = '010524,231530,A,52.525000,N,13.410000,E,36.00,270.5,34.0,9,100,80,0,0,00000008,0,0'
const FIX = {
  time: '2024-05-01T23:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  speed: 10,
  heading: 270.5,
  altitude: 34,
  satellites: 9,
  said: { battery_percent: 80 },
}

/** A message with the length that its content has without escapes. */
function message(content: string, { maker = '3G', serial = '' } = {}): string {
  return `[${maker}*${ID}*${serial}${content.length.toString(16).padStart(4, '0')}*${content}]`
}

export default {
  costly: {
    'one field': message(`UD,${many('1')}`),
    'empty fields': message(many(',')),
    escapes: Buffer.concat([Buffer.from(message('TK,').slice(0, -1)), Buffer.from(many('}\x01')), Buffer.from(']')]),
  },
  frames: [
    {
      title: 'reports without a date or a place',
      frames: [
        { frame: message('UD,000000,000000,V,0,N,0,E,0,0,0,0,100'), device: ID, none: 'no date' },
        { frame: message('AL,010524,231530,V,,,,,,,'), device: ID, none: 'no place', reply: message('AL') },
        { frame: message('AL'), device: ID, none: 'no place', reply: message('AL') },
        { frame: message(`SOS,${PLACE}`), device: ID, fixes: [FIX] },
        { frame: message(`WG,${PLACE}`), device: ID, fixes: [FIX] },
        { frame: message(`WAD,CH,${PLACE}`), device: ID, fixes: [FIX] },
        { frame: message('TKQ2'), device: ID, none: 'heartbeat', reply: message('TKQ2') },
        { frame: message('INIT,13912345678'), device: ID, none: 'login', reply: message('INIT,1') },
      ],
    },
    {
      title: 'positions and alarms; alarms are answered',
      frames: [
        { frame: message(`UD,${PLACE}`), device: ID, fixes: [FIX] },
        { frame: message(`UD_LTE,${PLACE}`, { maker: 'SG' }), device: ID, fixes: [FIX] },
        { frame: message(`AL,${PLACE}`), device: ID, fixes: [FIX], reply: `[3G*${ID}*0002*AL]` },
        {
          frame: message(`AL_LTE,${PLACE}`, { maker: 'ZJ', serial: '0a1b*' }),
          device: ID,
          fixes: [FIX],
          reply: `[ZJ*${ID}*0a1b*0002*AL]`,
        },
        {
          frame: message(`AL,${PLACE.replace('00000008', '00130001')}`),
          device: ID,
          fixes: [{ ...FIX, said: { battery_percent: 80, alarms: ['sos', 'low_battery', 'tampering'] } }],
          reply: message('AL'),
        },
        {
          frame: message(`ALARM,${PLACE.replace('00000008', '0000')}`),
          device: ID,
          fixes: [FIX],
          reply: message('AL'),
        },
        { frame: message('AL,310224,231530,A'), error: 'malformed', envelope: { device: ID, reply: message('AL') } },
        {
          frame: message('UD2,010524,231530,V,-33.480366,N, 70.7630692,W,1.00,0,0,0,100'),
          device: ID,
          fixes: [
            {
              time: '2024-05-01T23:15:30Z',
              latitude: -33.480366,
              longitude: -70.7630692,
              valid: false,
              speed: kmh(1),
              heading: 0,
              altitude: 0,
              satellites: 0,
            },
          ],
        },
      ],
    },
    {
      title: 'no position: links, requests, health, a voice with escapes, what is not known',
      frames: [
        {
          frame: message('LK,0,10,100'),
          device: ID,
          none: 'heartbeat',
          said: { battery_percent: 100 },
          reply: message('LK'),
        },
        { frame: message('LK'), device: ID, none: 'heartbeat', reply: message('LK') },
        { frame: message('TKQ'), device: ID, none: 'heartbeat', reply: `[3G*${ID}*0003*TKQ]` },
        { frame: message('BLOOD,109,68'), device: ID, none: 'health' },
        { frame: Buffer.from(`[3G*${ID}*0008*TK,}\x02}\x03}\x05}\x04}\x01]`), device: ID, none: 'audio' },
        { frame: message('NEW,1'), device: ID },
        { frame: message('ALLSET'), device: ID },
        { frame: message('ALARM,1,2'), device: ID },
        { frame: message('UD,010524'), error: 'truncated', envelope: { device: ID } },
      ],
    },
    {
      title: 'what is no message',
      transport: 'mqtt',
      frames: [
        { frame: '[3G*]', error: 'malformed' },
        { frame: 'GET /', error: 'unsupported' },
      ],
    },
    {
      title: 'names of networks with brackets, also behind a wrong length',
      frames: [
        {
          frame: message(`UD,${PLACE},1,a[b]c,00:11:22:33:44:55,-71,0.0`),
          device: ID,
          fixes: [FIX],
        },
        { frame: message(`UD,${PLACE},1,a[b]c,-71,0.0`).replace('*00', '*01'), device: ID, fixes: [FIX] },
        { frame: message('TKQ'), device: ID, none: 'heartbeat', reply: `[3G*${ID}*0003*TKQ]` },
      ],
    },
  ],
} satisfies ProtocolCases
