import type { Said } from '../../protocols/kit/index.ts'
import { bytes, type Gt06Position, gt06Flags, gt06Frame, gt06Gps, gt06Place, u } from '../support/encode.ts'
import { COSTLY_SIZE, eachSaid, many, type ProtocolCases } from '../support/protocol-cases.ts'

export const IMEI = '356307042441013'

export const POSITION: Gt06Position = {
  date: '261120063015',
  latitude: 54.687205,
  longitude: -25.27973,
  satellites: 9,
  speed: 54,
  heading: 214,
}
const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 54.687205,
  longitude: -25.27973,
  speed: 15,
  heading: 214,
  satellites: 9,
}
const MODULE = Buffer.concat([
  u(4, Date.parse(FIX.time) / 1000),
  bytes('09 fff4'),
  gt06Place(POSITION),
  Buffer.of(54),
  gt06Flags(POSITION),
])
const CELL = bytes('01cc 00 287d 001fb8')

const answer = (type: number, serial: number) => gt06Frame(type, Buffer.alloc(0), { serial })

const WIDE = bytes('01cc 00 0000287d 000000000001fb80')
const STATUS: Said = { ignition: true, charging: true, battery_percent: 83, alarms: ['vibration'] }

/** A position, and what follows it. */
function reported(type: number, parts: readonly (string | Buffer)[], said?: Said) {
  const behind = parts.map((part) => (typeof part === 'string' ? bytes(part) : part))
  const frame = gt06Frame(type, Buffer.concat([gt06Gps(POSITION), ...behind]))
  return { frame, fixes: [{ ...FIX, said }], reply: answer(type, 1) }
}

const stated = (type: number, content: string, said: Said) => ({
  frame: gt06Frame(type, bytes(content)),
  none: 'heartbeat',
  said,
  reply: answer(type, 1),
})

function commandAnswer(text: string) {
  const place = { latitude: 23.08618, longitude: -114.393687, speed: 15, heading: 120 }
  const frame = gt06Frame(0x21, Buffer.concat([bytes('00000000 01'), Buffer.from(text)]))
  return { frame, fixes: [{ time: '2026-11-20T14:52:36Z', ...place }], reply: answer(0x21, 1) }
}

export default {
  costly: {
    'modules without content': Buffer.concat([bytes('7979ffff70'), Buffer.alloc(COSTLY_SIZE)]),
    'starts without end': many('\x78'),
  },
  frames: [
    {
      title: 'a login and positions',
      frames: [
        {
          frame: gt06Frame(0x01, bytes(`0${IMEI}`)),
          device: IMEI,
          none: 'login',
          reply: answer(0x01, 1),
        },
        {
          frame: gt06Frame(0x22, Buffer.concat([gt06Gps(POSITION), CELL, bytes('010000')]), { serial: 0x1234 }),
          fixes: [{ ...FIX, said: { ignition: true } }],
          reply: answer(0x22, 0x1234),
        },
        {
          frame: gt06Frame(0x12, Buffer.concat([gt06Gps({ ...POSITION, fixed: false }), CELL]), { serial: 3 }),
          fixes: [{ ...FIX, valid: false }],
          reply: answer(0x12, 3),
        },
        {
          frame: gt06Frame(
            0x70,
            Buffer.concat([bytes('0000000102 0035 0001 01 0033 0012'), MODULE, bytes('0028 0001 0d 0018 0002 0172')]),
            { long: true, serial: 7 },
          ),
          fixes: [{ ...FIX, altitude: -12, hdop: 1.3, said: { battery_voltage: 3.7 } }],
          reply: answer(0x70, 7),
        },
      ],
    },
    {
      title: 'what alarms and heartbeats say',
      frames: [
        { frame: gt06Frame(0xa3, bytes('4604040002')), none: 'heartbeat', reply: answer(0xa3, 1) },
        { frame: gt06Frame(0x36, bytes('4604040002010200')), none: 'heartbeat', reply: answer(0x36, 1) },
        reported(0x12, [CELL, '44 04ba 04 02'], {
          ignition: false,
          charging: true,
          external_voltage: 12.1,
          alarms: ['power_cut'],
        }),
        reported(0x12, [CELL, '01 00'], { ignition: true }),
        reported(0x12, [CELL, '00000209']),
        reported(0x12, [CELL, '0001f404']),
        reported(0x22, [CELL, '01 00 00 00000012'], { ignition: true }),
        reported(0x22, [CELL, '01 00 00 01'], { ignition: false }),
        reported(0x22, [CELL, '00 01 00 00 00000012'], { ignition: true }),
        reported(0x22, [CELL, '05 00 00 01 0000000000000000000000'], { ignition: false }),
        reported(0x22, [CELL, '00 01 00 01 0000']),
        reported(0xa0, [WIDE, '01 00 00'], { ignition: true }),
        reported(0xa0, [bytes('81cc 0000 0000287d 000000000001fb80'), '00 00 00'], { ignition: false }),
        reported(0x16, ['09', CELL, '46 05 04 03 02'], STATUS),
        reported(0x16, ['08', CELL, '46 05 04 03 02'], STATUS),
        reported(0x26, ['08', CELL, '46 05 04 03 02 01020304a1b2c3d4'], { ...STATUS, driver: '01020304a1b2c3d4' }),
        reported(0x26, [CELL, '62 55 04 00 02'], {
          ignition: true,
          charging: false,
          battery_percent: 85,
          alarms: ['sos'],
        }),
        reported(0x27, ['09', CELL, '44 06 04 19 02 ff'], {
          ignition: false,
          charging: true,
          battery_percent: 100,
          alarms: ['low_battery'],
        }),
        reported(0xa4, ['10', WIDE, '46 05 04 13 02 ff'], { ...STATUS, alarms: ['tampering'] }),
        // An alarm is one before the device knows the time, too.
        {
          frame: gt06Frame(0x16, Buffer.concat([Buffer.alloc(18), bytes('09'), CELL, bytes('66 04 03 01 02')])),
          none: 'no fix',
          said: { ignition: true, charging: true, battery_percent: 66, alarms: ['sos'] },
          reply: answer(0x16, 1),
        },
        { frame: gt06Frame(0x16, Buffer.alloc(18)), none: 'no fix', reply: answer(0x16, 1) },
        reported(0x16, ['09', CELL, '7c 55 03 00 02'], {
          ignition: false,
          charging: true,
          battery_percent: 85,
          alarms: ['tampering'],
        }),
        reported(0x31, ['02d4 000a c3c7 0dbdc415', '01 00 00000002a6'], { ignition: true }),
        reported(0x32, ['0a 02d4 000b c527 0000ec02', '52 06 04 02 02'], {
          ignition: true,
          charging: false,
          battery_percent: 100,
          alarms: ['power_cut'],
        }),
        reported(0x17, [CELL, 'bf0000012ca7e001 00'], { driver: 'bf0000012ca7e001' }),
        stated(0x13, '58 04 03 0102', {
          ignition: false,
          charging: false,
          battery_percent: 66,
          alarms: ['low_battery'],
        }),
        stated(0x13, '40 05 03 0201', { ignition: false, charging: false, battery_percent: 83 }),
        stated(0x13, '46 0b12 04 00', { ignition: true, charging: true, external_voltage: 28.34 }),
        stated(0x13, '02 801a 0000 2d 42 0171 00000000 3a', {
          ignition: true,
          charging: false,
          battery_percent: 45,
          battery_voltage: 3.69,
        }),
        stated(0x23, '42 0190 04 0001', { ignition: true, charging: false, battery_voltage: 4 }),
        {
          ...stated(0x19, '01cc 00 287d 001fb8 22 03 04 0101', {
            ignition: true,
            charging: false,
            battery_percent: 50,
            alarms: ['sos'],
          }),
          none: 'cells',
        },
        ...['00', '0b'].map((kind) => ({
          frame: gt06Frame(0x94, bytes(`${kind} 04ba`), { long: true }),
          none: 'status',
          said: { external_voltage: 12.1 },
        })),
        {
          frame: gt06Frame(0x94, bytes('1b 02 08 4277efef 35 03'), { long: true }),
          none: 'status',
          said: { driver: '4277efef' },
        },
        {
          frame: gt06Frame(0x94, bytes('1b 2345678912000000'), { long: true }),
          none: 'status',
          said: { driver: '2345678912000000' },
        },
        {
          frame: gt06Frame(0x8c, bytes('1a0b14061e0f 00 313d30'), { long: true }),
          none: 'OBD',
          said: { ignition: false },
        },
      ],
    },
    {
      title: 'a heartbeat with tenths of a volt',
      settings: { model: 'LW4G-4B' },
      frames: [
        stated(0x13, '46 06 04 f080', { ignition: true, charging: true, battery_percent: 100, external_voltage: 12.8 }),
      ],
    },
    {
      title: 'a heartbeat with whole volts',
      settings: { model: 'SEEWORLD' },
      frames: [
        stated(0x13, '45 03 56 0c 01', { ignition: false, charging: true, battery_percent: 50, external_voltage: 12 }),
      ],
    },
    {
      title: 'an id before the position, and a card behind it',
      settings: { model: 'XT40' },
      frames: [
        {
          frame: gt06Frame(
            0x25,
            Buffer.concat([
              bytes('010356354871186948 261120063014'),
              gt06Gps(POSITION),
              bytes('0a 02d4 10c8 0b0c352c1704 46 04e3 29 33 0002 000000 000584'),
              bytes('0f 01 02 343130303635383036424446 03'),
            ]),
          ),
          fixes: [
            {
              ...FIX,
              said: {
                ignition: true,
                charging: true,
                external_voltage: 12.51,
                battery_voltage: 4.1,
                driver: '410065806BDF',
              },
            },
          ],
          reply: answer(0x25, 1),
        },
      ],
    },
    {
      title: 'answers to commands, and a request for an address',
      frames: [
        commandAnswer('Lat:N23d5.1708m,Lon:W114d23.6212m,Course:120,Speed:54,DateTime:26-11-20    14:52:36'),
        commandAnswer(
          'Current position!Lat:N23.08618,Lon:W114.393687,Course:120.0,Speed:54.000,DateTime:2026-11-20 14:52:36',
        ),
        {
          frame: gt06Frame(0x15, Buffer.concat([bytes('18 00000000'), Buffer.from('Lat:,Lon:,no signal')])),
          fixes: [],
          reply: answer(0x15, 1),
        },
        {
          frame: gt06Frame(0x21, Buffer.concat([bytes('00000000 02'), Buffer.from('\0L\0a\0t\0:\0N\0?')]), {
            long: true,
          }),
          fixes: [],
        },
        {
          frame: gt06Frame(0x21, Buffer.from('\0\0\0\0\x01http://maps.google.com/maps?q=N22.5,E113.9'), { long: true }),
          fixes: [],
        },
        {
          frame: gt06Frame(0x15, Buffer.concat([bytes('08 00000000'), Buffer.from('DYD=Success!')])),
          none: 'command answer',
          reply: answer(0x15, 1),
        },
        {
          frame: gt06Frame(
            0x2a,
            Buffer.concat([gt06Gps(POSITION), Buffer.from('13800138000'.padEnd(21, '\0')), bytes('0002')]),
          ),
          fixes: [FIX],
          reply: gt06Frame(0x97, Buffer.concat([bytes('1e 00000000'), Buffer.from('ADDRESS&&NA&&13800138000##')]), {
            long: true,
          }),
        },
      ],
    },
    {
      title: 'a module that is too short is kept and answered',
      frames: [
        {
          frame: gt06Frame(0x70, bytes('0000000102 0033 0002 0102'), { long: true }),
          error: 'truncated',
          envelope: { reply: answer(0x70, 1) },
        },
      ],
    },
  ],
  corrections: [
    {
      reason:
        'cells of types 31 and 32 have ten bytes, as two frames with the same area show: what follows is read a byte off',
      frames: ['gt06-020', 'gt06-021', 'gt06-023'],
      says: eachSaid((_, { id }) =>
        id === 'gt06-021'
          ? { ignition: true }
          : id === 'gt06-020'
            ? { ignition: true, charging: true }
            : { ignition: true, charging: false, batteryPercent: 100, alarms: ['powerCut'] },
      ),
    },
    {
      reason: 'of type 34, 12 V and 14 V are those of a vehicle, 4.2 V those of a tracker',
      frames: ['gt06-070', 'gt06-080'],
      says: eachSaid(({ powerV, batteryV, ...rest }) => ({ ...rest, powerV: batteryV, batteryV: powerV })),
    },
    {
      reason: 'of a heartbeat with 14 bytes, 3.67 V at a charge of 46 % are the battery',
      frames: ['gt06-040'],
      says: eachSaid(({ powerV, ...rest }) => ({ ...rest, batteryV: powerV })),
    },
    {
      reason: 'of XT40, the bytes 02 and 03 stand around the text of the card',
      frames: ['gt06-176'],
      says: eachSaid((each) => ({ ...each, driver: '510065806BDF' })),
    },
  ],
  exceptions: {
    'gt06-051': 'cells with a date under type 19 are answered as the specification has it, where the peer is silent',
    'gt06-119': 'the offer of a photo is answered, but the photo not asked for',
    'gt06-161': 'a heartbeat of the ZX303 family has neither the serial number nor the checksum that an answer needs',
  },
} satisfies ProtocolCases
