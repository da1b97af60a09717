import { ByteWriter, crc8Egts, crc16CcittFalse, type Said } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, eachPosition, many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'
import type { Vector, VectorPosition } from '../support/vectors/vectors.ts'

const IMEI = '356307042441013'

const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 54.687205,
  longitude: -25.27973,
  altitude: 112.5,
  speed: 15,
  heading: 214,
  hdop: 2,
}
const PLACE = '2,54.0,214,112.5,-25.279730,54.687205,20261120063015,0246,0001,18D8,6141,00'

const report = (head: string, fields: string) => `${head},1A0800,${IMEI},GL300,${fields},20261120063020,0C19$`
/** 35 63 07 04 24 41 01 and 3. */
const ID = '233f070418290103'

const SECONDS = [
  { time: FIX.time, latitude: FIX.latitude, longitude: FIX.longitude, speed: 15, heading: 1 },
  { time: '2026-11-20T06:30:16Z', latitude: 54.687105, longitude: -25.278706, speed: 14.5, heading: 358 },
  { time: '2026-11-20T06:30:18Z', latitude: 54.687106, longitude: -25.280754, speed: 15, heading: 0 },
]

export default {
  costly: {
    'fields without content': `+RESP:GTFRI,1A0800,1${many(',')}$`,
    'times without places': `+RESP:GTFRI,1A0800,1,,${many('1.1111,20261320063015,')}$`,
    'a report of zeros': binary('+RSP', '03 00fc1fbf', Buffer.alloc(COSTLY_SIZE - 40)),
    'starts of reports': many('+RSP'),
  },
  frames: [
    {
      title: 'reports of the older GL100, whose fields stand elsewhere',
      frames: [
        {
          frame: `+RESP:GTRTL,${IMEI},1,0,0,0,12.5,270,34.5,2,-13.410000,52.520000,20261120171418,0460,0000,18d8,6141,00,11F0,0102120204\0`,
          error: 'unsupported',
        },
      ],
    },
    {
      title: 'reports as text',
      frames: [
        {
          frame: report('+RESP:GTFRI', `0,0,1,${PLACE},00`),
          isTypical: true,
          device: IMEI,
          fixes: [FIX],
          reply: '+SACK:0C19$',
        },
        {
          frame: report(
            '+RESP:GTFRI',
            `0,0,2,${PLACE},2,0.0,,,-25.279730,54.687205,20261120063015,0246,0001,18D8,6141,00`,
          ),
          device: IMEI,
          fixes: [FIX, { ...FIX, altitude: undefined, heading: undefined, speed: 0 }],
          reply: '+SACK:0C19$',
        },
        {
          frame: report('+RESP:GTFRI', `0,0,1,${PLACE.replace(/00$/, '01')},12,0.0,,,,100`),
          device: IMEI,
          fixes: [{ ...FIX, satellites: 12, said: { battery_percent: 100 } }],
          reply: '+SACK:0C19$',
        },
        {
          frame: report('+BUFF:GTSOS', `0,0,1,0,,,,-25.279730,54.687205,20261120063015,,,,`),
          device: IMEI,
          fixes: [{ time: FIX.time, latitude: FIX.latitude, longitude: FIX.longitude, said: { alarms: ['sos'] } }],
          reply: '+SACK:0C19$',
        },
        { frame: report('+RESP:GTRTL', ',,,,,,,,0246,0001'), device: IMEI, none: 'no place', reply: '+SACK:0C19$' },
        {
          frame: report('+RESP:GTVGL', ',00,1,1,,,,,,,0246,0001'),
          device: IMEI,
          none: 'no place',
          said: { ignition: true },
          reply: '+SACK:0C19$',
        },
        { frame: report('+RESP:GTRTL', '0,1,2,x'), device: IMEI, fixes: [], reply: '+SACK:0C19$' },
        { frame: report('+RESP:GTXYZ', '0,1,2,3'), device: IMEI, reply: '+SACK:0C19$' },
        {
          frame: report('+RESP:GTTEM', '4.10,21.5,20261120063015'),
          device: IMEI,
          fixes: [],
          reply: '+SACK:0C19$',
        },
        {
          frame: report('+RESP:GTINF', '41,8970,17'),
          device: IMEI,
          none: 'status',
          said: { moving: false },
          reply: '+SACK:0C19$',
        },
        {
          frame: report('+RESP:GTBAT', '1,,0,4.40,0,0'),
          device: IMEI,
          none: 'status',
          said: { battery_voltage: 4.4, charging: false },
          reply: '+SACK:0C19$',
        },
        {
          frame: report('+RESP:GTFRI', `3100,10,1,${PLACE},0.0,,,,,0F,0F,,`).replace('1A0800', '040408'),
          device: IMEI,
          fixes: [FIX],
          reply: '+SACK:0C19$',
        },
        { frame: report('+ACK:GTRTO', 'VER,FFFF'), device: IMEI, none: 'command answer', reply: '+SACK:0C19$' },
        { frame: report('+ACK:GTRTO', `RTL,0000,1,${PLACE},88`), device: IMEI, fixes: [FIX], reply: '+SACK:0C19$' },
        { frame: report('+ACK:GTSOS', `0001,1,${PLACE}`), device: IMEI, fixes: [FIX], reply: '+SACK:0C19$' },
        { frame: report('+ACK:GTHBD', ''), device: IMEI, none: 'heartbeat', reply: '+SACK:GTHBD,1A0800,0C19$' },
        {
          frame: `+RESP:GTINF,${IMEI},89380039,18,99,0103090402\0`,
          device: IMEI,
          none: 'status',
          reply: '+SACK:0103090402$',
        },
        { frame: '+RESP:GTFRI,1A0800,,GL300,0C19$', error: 'malformed' },
        {
          frame: report('+RESP:GTFRI', `0,0,2,${PLACE},${PLACE.replace('20261120063015', '00000000000000')}`),
          device: IMEI,
          fixes: [FIX],
          reply: '+SACK:0C19$',
        },
        {
          frame: `+ACK:GTHBD,,${IMEI},,20261120063020,0C19$`,
          device: IMEI,
          none: 'heartbeat',
          reply: '+SACK:GTHBD,,0C19$',
        },
      ],
    },
    {
      title: 'two reports in one datagram',
      transport: 'udp',
      frames: Array.from({ length: 2 }, () => ({
        frame: report('+RESP:GTFRI', `0,0,1,${PLACE},00`),
        device: IMEI,
        fixes: [FIX],
        reply: '+SACK:0C19$',
      })),
    },
    {
      title: 'what reports say beside the position',
      frames: [
        saying('FRI', `12650,10,1,${PLACE},20.5,00080:03:37,,,95,220100,,,,`, {
          ignition: true,
          moving: true,
          external_voltage: 12.65,
          battery_percent: 95,
        }),
        saying('ERI', `00000002,,10,1,${PLACE},20.5,,,,,1A0100,1,0`, { ignition: false }),
        saying('ERI', `00000080,0,16,1,${PLACE},27`, { battery_percent: 27 }),
        saying('FRI', `,10,1,${PLACE},20.5`),
        saying('ERI', `00000002,,10,1,${PLACE},19273.0,,,12,,05,00,2,0`),
        saying('FRI', `0,0,1,${PLACE},88`, { battery_percent: 88 }),
        saying('RTL', `0,0,1,${PLACE},101`),
        saying('NMR', `0,1,1,${PLACE},88`, { moving: true, battery_percent: 88 }),
        saying('CTN', `0,0,2,21.5,64,${PLACE}`, { battery_percent: 64 }),
        saying('SOS', `0,0,1,${PLACE}`, { alarms: ['sos'] }),
        saying('BPL', `3.55,${PLACE}`, { battery_voltage: 3.55, alarms: ['low_battery'] }),
        saying('STT', `12,${PLACE}`, { ignition: false, moving: true }),
        saying('STT', `22,${PLACE}`, { ignition: true, moving: true }),
        saying('STT', `42,${PLACE}`, { moving: true }),
        saying('STT', `16,${PLACE}`, { ignition: false, moving: true, alarms: ['tow'] }),
        saying('STT', `21,${PLACE}`, { ignition: true, moving: false }),
        saying('IGF', `120,${PLACE}`, { ignition: false }),
        saying('IGL', `,00,1,${PLACE}`, { ignition: true }),
        saying('JDS', `2,${PLACE}`, { alarms: ['jamming'] }),
        saying('STC', `,${PLACE}`, { charging: false }),
        saying('IDA', `,01C68011010000C7,1,1,${PLACE}`, { driver: '01C68011010000C7' }),
        saying('CAN', `0,1,C07FFFFF,,2,H100,${PLACE}`, { ignition: true }),
        {
          frame: report('+RESP:GTINF', '21,8970,22,0,1,12917,,4.26,1,0,,,20261120062000'),
          device: IMEI,
          none: 'status',
          said: { ignition: true, moving: false, external_voltage: 12.917, battery_voltage: 4.26, charging: true },
          reply: '+SACK:0C19$',
        },
        {
          frame: report('+RESP:GTINF', '41,8970,22,0,0,33.5,,3.9,0,1,,,20261120062000'),
          device: IMEI,
          none: 'status',
          said: { moving: false, battery_voltage: 3.9, charging: false },
          reply: '+SACK:0C19$',
        },
        {
          frame: `+RESP:GTFRI,1F0101,${IMEI},1G1JC5444R7252367,van,12650,10,1,${PLACE},20.5,,,,95,210100,,,,20261120063020,0C19$`,
          device: IMEI,
          fixes: [{ ...FIX, said: { ignition: true, moving: false, external_voltage: 12.65, battery_percent: 95 } }],
          reply: '+SACK:0C19$',
        },
        ...['27,', '27,1,32.4'].map((behind) => ({
          frame: `+RESP:GTERI,C30209,${IMEI},,00000080,0,16,2,${PLACE},${PLACE},${behind},20261120063020,0C19$`,
          device: IMEI,
          fixes: [FIX, { ...FIX, said: { battery_percent: 27 } }],
          reply: '+SACK:0C19$',
        })),
        {
          frame: `+RESP:GTFRI,5E0100,${IMEI},,,12940,10,1,${PLACE},6223.7,,,,,110000,,,,20261120063020,0C19$`,
          device: IMEI,
          fixes: [{ ...FIX, said: { ignition: false, moving: false, external_voltage: 12.94 } }],
          reply: '+SACK:0C19$',
        },
        {
          frame: `+BUFF:GTSTT,560200,${IMEI},,,42,${PLACE},20261120063020,0C19$`,
          device: IMEI,
          fixes: [{ ...FIX, said: { moving: true } }],
          reply: '+SACK:0C19$',
        },
        {
          frame: `+RESP:GTFRI,423031,${IMEI},,0,1,1,0,1,${PLACE},3,85,20261120063020,0C19$`,
          device: IMEI,
          fixes: [{ ...FIX, said: { moving: true, charging: false, battery_percent: 85 } }],
          reply: '+SACK:0C19$',
        },
        {
          frame: report('+RESP:GTFRI', `0,0,1,${PLACE.replace('20261120', '20260230')},88`),
          error: 'malformed',
          envelope: { device: IMEI, reply: '+SACK:0C19$' },
        },
        {
          frame: report('+RESP:GTFRI', `0,0,2,${PLACE.replace('20261120', '20260230')},${PLACE},88`),
          device: IMEI,
          fixes: [{ ...FIX, said: { battery_percent: 88 } }],
          unreadable: [0],
          reply: '+SACK:0C19$',
        },
      ],
    },
    {
      title: 'reports in binary',
      frames: [
        {
          frame: binary(
            '+RSP',
            '07 00fc1fbf',
            bytes(`45 0102 0209 ${ID} 64 377e 10 01 02 0036 00 00d6 0070 ${place()} 0246 0001`),
          ),
          device: IMEI,
          fixes: [{ ...FIX, altitude: 112, said: { battery_percent: 100, external_voltage: 14.206 } }],
        },
        {
          frame: binary(
            '+EVT',
            '0c 00fc1fff',
            bytes(`45 0101 0108 67623130302d3100 64 01 00 0036 05 00d6 fff4 ${place()} 0246`),
          ),
          device: 'gb100-1',
          fixes: [
            {
              ...FIX,
              altitude: -12,
              speed: 15.138889,
              hdop: undefined,
              said: { battery_percent: 100, external_voltage: 0.256 },
            },
          ],
        },
        { frame: binary('+RSP', '03 00fc1fbf', bytes(`45 0102 0209 ${ID} 00`)), device: IMEI, fixes: [] },
        { frame: binary('+RSP', '64 00fc1fbf', bytes(`45 0102 0209 ${ID} 00`)), device: IMEI, fixes: [] },
        {
          frame: binary('+RSP', '64 00fc1fbf', Buffer.concat([bytes(`45 0102 0209 ${ID} 64 377e 10 01`), seconds()])),
          device: IMEI,
          fixes: [...SECONDS.slice(0, -1), { ...SECONDS[2], said: { battery_percent: 100, external_voltage: 14.206 } }],
        },
        {
          frame: binary(
            '+RSP',
            '64 00fc1fbf',
            Buffer.concat([bytes(`45 0102 0209 ${ID} 64`), seconds().fill(0, 17, 18)]),
          ),
          device: IMEI,
          fixes: [],
          said: { battery_percent: 100, external_voltage: 0.004 },
        },
        { frame: status('01 fd7d', `45 0102 0209 ${ID} 00`), device: IMEI, none: 'status' },
        { frame: status('01 fd7d', `${ID} 04 020c 0101 00`), device: IMEI, none: 'status' },
        { frame: status('02 fd7f', '6776323030000000 04 020c'), device: 'gv200', none: 'status' },
        { frame: status('02 fd7d', '04 020c'), none: 'status' },
        // The example of the manual of the GV200, which has no length.
        {
          frame: bytes(
            '2b494e46 01 fffe 6776323030000000 01 04 020c 0101 0301 01 0000 0000 0000 0c00 00 41 10 21 07dc011e092135' +
              '00 01 7f bf 00 1e 02 58 80 00 00 11 6a 8986009109116900460114000000000460000018780873002607dc011e092523' +
              '0010 1f27 0d0a',
          ),
          device: 'gv200',
          none: 'status',
        },
        { frame: binary('+RSP', '03 00fc1fbf', bytes(`45 0102 0209 ff3f070418290a03 00`)), error: 'malformed' },
        { frame: heartbeat(`eb 45 0209 ${ID}`), device: IMEI, none: 'heartbeat' },
        { frame: heartbeat('9f 45 0102 0209 6776323030000000'), device: 'gv200', none: 'heartbeat' },
        { frame: heartbeat('6b 45 0209'), none: 'heartbeat' },
        { frame: heartbeat('eb ff ffff ffffffffffffffff'), none: 'heartbeat' },
        { frame: short('+ACK', '01 7f', bytes('45 0101 08')), none: 'command answer' },
        {
          frame: newer(`21 66330ef2 0189 5000 5216 29 00cc9ed0 032177c8 6632cd12 0168 09 010e 000154 09`),
          device: IMEI,
          fixes: [
            {
              time: Date.UTC(2024, 4, 1, 23, 15, 30),
              latitude: 52.525,
              longitude: 13.41,
              speed: 10,
              hdop: 0.9,
              heading: 270,
              altitude: 34,
              satellites: 9,
            },
          ],
        },
        {
          frame: newer('10 66330ef2 0120 2000 6105 010f404a00'),
          device: IMEI,
          none: 'no place',
          said: { battery_voltage: 3.904, battery_percent: 74 },
        },
      ],
    },
  ],
  corrections: [
    {
      reason: 'IGL: 1 is "ignition off", since it comes seconds after IGF',
      frames: ['gl200-088', 'gl200-109'],
      says: eachSaid(({ ignition, ...rest }) => ({ ...rest, ignition: !ignition })),
    },
    {
      reason: 'GTINF: 12986 is the external power in mV, 4.16 the voltage of the battery',
      frames: ['gl200-101'],
      says: eachSaid((said) => ({ ...said, powerV: 12.986, batteryV: 4.16 })),
    },
    {
      reason: 'GTMPN: 0 is the accuracy of GPS, in front of the speed',
      frames: ['gl200-102'],
      says: eachSaid(({ batteryPercent = 0, ...rest }) => ({ ...rest, batteryPercent: batteryPercent || undefined })),
    },
    {
      reason: 'GTERI of a model with a battery alone: report id and type, two zeros, follow the mask',
      frames: ['gl200-015'],
      says: eachSaid(({ powerV = 0, ...rest }) => ({ ...rest, powerV: powerV || undefined })),
    },
    {
      reason: 'GTINF: what stands behind the voltage of the battery is whether it is being charged; LED on comes next',
      says: (vector) => withSaid(vector, 'INF', (said) => ({ ...said, charging: undefined })),
    },
    {
      reason:
        'GTSTT: 11 to 42 are states, which a vehicle reaches at every start and stop, and no alarms; it has no battery',
      says: (vector) =>
        withSaid(vector, 'STT', (said) => ({
          ...said,
          batteryPercent: undefined,
          alarms: [],
        })),
    },
    {
      reason: 'the external power in binary reports is in mV',
      says: eachPosition(({ said }) =>
        said?.powerV && said.powerV > 200 ? { said: { ...said, powerV: said.powerV / 1000 } } : {},
      ),
    },
    {
      reason: 'GPS accuracy 0 marks the last known place, which has the time of its own: it is a fix like any other',
      says: eachPosition(() => ({ valid: true })),
    },
    {
      reason:
        'Unique ID: the IMEI with two decimal digits in a byte, or the name, where the peer has a number of eight bytes',
      says: (vector) => withDevice(vector),
    },
    {
      reason: 'of a model that sends no version the IMEI comes first',
      frames: ['gl200-103', 'gl200-164'],
      says: ({ id, positions }) => {
        const deviceId = id === 'gl200-103' ? '862370030005908' : '359464030073766'
        return { deviceId, positions: positions.map((each) => ({ ...each, deviceId })) }
      },
    },
    {
      reason: 'GTCAN: a place follows the values of the vehicle, behind a reserved field',
      frames: ['gl200-025'],
      says: {
        positions: [position('867488060267845', '2024-12-13T11:37:15Z', [40.481997, -3.647673], [698.5, 101])],
      },
    },
    {
      reason: 'GTCAN: a place follows the values of the vehicle, behind a reserved field',
      frames: ['gl200-196'],
      says: {
        positions: [position('867488060270575', '2024-02-02T08:34:37Z', [-0.968132, -78.592371], [2848.5, 346])],
      },
    },
  ],
} satisfies ProtocolCases

/** A report with one place, and what it says beside it. */
function saying(type: string, fields: string, said?: Said) {
  return {
    frame: report(`+RESP:GT${type}`, fields),
    device: IMEI,
    fixes: [said ? { ...FIX, said } : FIX],
    reply: '+SACK:0C19$',
  }
}

/** Four seconds, the third without a place: 54 km/h, −1.8 and 1.8; 1°, −3° and 2°; and of angles −100 and 1, 1024 and −2048. */
function seconds(): Buffer {
  const first = bytes(`${(3 * 2 ** 21 + 540 * 2 ** 9 + 1).toString(16)} ${i32(-25_279_730)} ${i32(54_687_205)}`)
  const rest = [second([-18, -3, 1024, -100]), 0xe0n, second([18, 2, -2048, 1])]
    .map((each) => each.toString(16))
    .join('')
  return Buffer.concat([bytes('0004'), first, u(4, Date.parse(FIX.time) / 1000), bytes(rest)])
}

/** What a second adds: to speed, heading, longitude and latitude. */
function second(added: readonly number[]): bigint {
  const widths = [7n, 7n, 12n, 11n]
  return added.reduce((bits, value, i) => (bits << widths[i]) + BigInt.asUintN(Number(widths[i]), BigInt(value)), 5n)
}

function place(): string {
  return `${i32(-25_279_730)} ${i32(54_687_205)} 07ea 0b14 061e0f`
}

function i32(value: number): string {
  return u(4, value >>> 0).toString('hex')
}

/** A report: its type and mask, and what stands between its length and the time of sending. */
function binary(head: string, type: string, content: Buffer): Buffer {
  const length = 4 + 5 + 2 + content.length + 13
  return ended(Buffer.concat([Buffer.from(head), bytes(type), u(2, length), content]))
}

/** Of its type and mask, and what follows the length. */
function status(type: string, fields: string): Buffer {
  const content = bytes(fields)
  return ended(Buffer.concat([Buffer.from('+INF'), bytes(type), u(2, 9 + content.length + 13), content]))
}

function short(head: string, type: string, content: Buffer): Buffer {
  return ended(Buffer.concat([Buffer.from(head), bytes(type), u(1, 7 + content.length + 13), content]))
}

/** Of its mask and what follows the length. */
function heartbeat(fields: string): Buffer {
  const [mask, ...others] = bytes(fields)
  return ended(Buffer.concat([Buffer.from('+HBD'), Buffer.of(mask, others.length + 19, ...others)]))
}

function ended(start: Buffer): Buffer {
  const frame = Buffer.concat([start, bytes('07ea0b14061e14 0c19')])
  return Buffer.concat([frame, u(2, crc16CcittFalse(frame.subarray(4))), bytes('0d0a')])
}

/** A vector of a type of report, with another reading of what it says beside the position. */
function withSaid(
  { input, positions }: Vector,
  type: string,
  read: (said: NonNullable<VectorPosition['said']>, fields: readonly string[]) => VectorPosition['said'],
) {
  const text = input.text ?? Buffer.from(input.hex ?? '', 'hex').toString('latin1')
  const fields = text.split(',')
  if (!fields[0].endsWith(type)) return undefined
  return { positions: positions.map((each) => (each.said ? { ...each, said: read(each.said, fields) } : each)) }
}

function withDevice({ deviceId = '', positions }: Vector) {
  if (!/^\d{18,20}$/.test(deviceId)) return undefined
  const id = u(8, 0)
  id.writeBigUInt64BE(BigInt(deviceId))
  const isName = id.some((byte) => byte > 99)
  const digits = Array.from(id, (byte, i) => String(byte).padStart(i < 7 ? 2 : 1, '0')).join('')
  const device = isName ? id.toString('latin1') : digits
  return { deviceId: device, positions: positions.map((each) => ({ ...each, deviceId: device })) }
}

function position(
  deviceId: string,
  time: string,
  [lat, lon]: readonly number[],
  [altitude, course]: readonly number[],
) {
  return { deviceId, time, valid: true, lat, lon, altitude, speedKnots: 0, course }
}

/** A frame of newer models with one record. */
function newer(record: string): Buffer {
  const content = bytes(record)
  const w = new ByteWriter()
    .hex('2b00')
    .u16(23 + content.length)
    .hex(`000${IMEI}820300030000`)
  return w.bytes(content).hex('0001').sum(crc8Egts).hex('24').toBuffer()
}
