import { kmh, knots } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

const ID = '356307042441013'
/** 52° 31.5′ N, 13° 24.6′ E at 23:15:30 UTC, in a zone where it is the next day. */
const PLACE = 'F,231530.000,A,5231.5000,N,01324.6000,E,12.50,270'
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: knots(12.5), heading: 270 }
/** Of the firmware with decimal degrees. */
const OTHER = { ...FIX, speed: kmh(45), altitude: 34, hdop: 0.9, satellites: 7 }

export default {
  costly: {
    'one field': `imei:${many('1')}`,
    'empty fields': `imei:${ID},tracker${many(',')}`,
    'a position without an end': `imei:${ID},tracker,2405020115,,${PLACE},${many('1')}x`,
    'blanks in front of a number': `imei:${ID},tracker,2405020115,,F,231530.000,A,${many(' ')}`,
  },
  frames: [
    {
      title: 'a clock that was never set, and any text in place of dashes',
      frames: [
        {
          frame: `imei:${ID},tracker,0000000000,,${PLACE.replace('231530', '101530')};`,
          device: ID,
          fixes: [{ ...FIX, time: '2026-11-20T10:15:30Z' }],
        },
        {
          frame: `imei:${ID},tracker,2405020115,,F,231530.000,,5231.5000,S,01324.6000,W;`,
          device: ID,
          fixes: [{ time: FIX.time, latitude: -52.525, longitude: -13.41, valid: false }],
        },
        {
          frame: `imei:${ID},tracker,240501231530,61.0,F,31.0,A,S,5231.5000,W,01324.6000,12.5;`,
          device: ID,
          fixes: [{ time: FIX.time, latitude: -52.525, longitude: -13.41, speed: FIX.speed }],
        },
        {
          frame: `imei:${ID},van,21.5,------,7,231530,010524,14,1,-52.525,-13.41,045,270,-34,0.9,07,0*`,
          device: ID,
          fixes: [{ ...OTHER, latitude: -52.525, longitude: -13.41, altitude: -34, said: { ignition: false } }],
        },
      ],
    },
    {
      title: 'a login, a heartbeat, positions, an emergency call',
      frames: [
        { frame: `##,imei:${ID},A;`, device: ID, none: 'login', reply: 'LOAD' },
        { frame: `${ID};`, device: ID, none: 'heartbeat', reply: 'ON' },
        { frame: `imei:${ID},tracker,240502011530,,${PLACE};`, isTypical: true, device: ID, fixes: [FIX] },
        {
          frame: `imei:${ID},help me,2405020115,,${PLACE},34.5,1,0;`,
          device: ID,
          fixes: [{ ...FIX, altitude: 34.5, said: { ignition: true, alarms: ['sos'] } }],
          reply: `**,imei:${ID},E;`,
        },
        {
          frame: `imei:${ID},help me,2405020115,,L,,,113b,,558f,,;`,
          device: ID,
          none: 'no fix',
          said: { alarms: ['sos'] },
          reply: `**,imei:${ID},E;`,
        },
        {
          frame: `imei:${ID},oil,2405020115,,${PLACE.replace('12.50,270', '12.50,full,n/a')};`,
          device: ID,
          fixes: [{ ...FIX, heading: undefined }],
        },
        {
          frame: `imei:${ID},oil,2405020115,,${PLACE.replace('12.50,270', '1-2,full')};`,
          device: ID,
          fixes: [{ ...FIX, heading: undefined, speed: undefined }],
        },
        { frame: `imei:${ID},OBD,240502011530,70430,,,0,49;`, device: ID, none: 'status' },
        {
          frame: `imei:${ID},OBD,240502011530,70430,1.00,7.06,98,18,68.63%,55,25.10%,1368,14.24,P0137,,,;`,
          device: ID,
          none: 'status',
          said: { external_voltage: 14.24 },
        },
      ],
    },
    {
      title: 'positions of other firmware: decimal degrees, and only local time',
      frames: [
        {
          frame: `imei:${ID},van,---,------,----,231530,010524,14,3,52.525,13.41,045,270,34,0.9,07,0,1,---,*`,
          device: ID,
          fixes: [{ ...OTHER, said: { ignition: false, charging: true } }],
        },
        {
          frame: `imei:${ID},van,---,------,----,231530,010524,14,3,52.525,13.41,045,270,34,0.9,07,---,---,---,*`,
          device: ID,
          fixes: [OTHER],
        },
        ...['A', 'V', '0'].map((quality) => ({
          frame: `imei:${ID},van,---,------,----,231530,010524,14,${quality},52.525,13.41,045,270,34,0.9,07,0,1,---,*`,
          device: ID,
          fixes: [{ ...OTHER, valid: quality === 'A', said: { ignition: false, charging: true } }],
        })),
        {
          frame: `imei:${ID},tracker,240501231530,61.0,F,31.0,A,N,5231.5000,E,01324.6000,12.50,270,34.0;`,
          device: ID,
          fixes: [{ ...FIX, altitude: 34 }],
        },
      ],
    },
    {
      title: 'what is said beside the position',
      frames: [
        {
          frame: `imei:${ID},acc off,2405020115,,${PLACE},;`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: false } }],
        },
        {
          frame: `imei:${ID},rfid,2405020115,49121185,${PLACE},,1,0,0.00%,,;`,
          device: ID,
          fixes: [{ ...FIX, said: { driver: '49121185', ignition: true } }],
        },
        {
          frame: `imei:${ID},ac alarm,2405020115,,${PLACE},,0,0,0.00%,,;`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: false, alarms: ['power_cut'] } }],
        },
        {
          frame: `imei:${ID},low battery,2405020115,,L;`,
          device: ID,
          none: 'no fix',
          said: { alarms: ['low_battery'] },
        },
        { frame: `imei:${ID},L,;`, device: ID, none: 'no fix' },
      ],
    },
    {
      title: 'what is not known',
      frames: [
        { frame: `imei:${ID},photo,1;`, device: ID },
        { frame: 'GET / HTTP/1.1\r\n', error: 'unsupported' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'OBD: what it calls battery voltage is that of the vehicle: 14 V while it drives',
      says: (vector) =>
        vector.input.text?.includes(',OBD,')
          ? eachSaid(({ batteryV, ...rest }) => ({ ...rest, powerV: batteryV }))(vector)
          : undefined,
    },
    {
      reason: 'the time of these positions has seconds, which the peer drops',
      frames: ['gps103-076'],
      says: eachPosition(() => ({ time: '2015-04-01T16:58:32.000Z' })),
    },
    {
      reason: 'the same',
      frames: ['gps103-077'],
      says: eachPosition(() => ({ time: '2015-04-20T05:06:48.000Z' })),
    },
  ],
} satisfies ProtocolCases
