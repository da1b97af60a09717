import { xor } from '../../protocols/kit/index.ts'
import { bytes, escapedFrame, u } from '../support/encode.ts'
import { COSTLY_SIZE, many, type OwnFrame, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'
import { flipped } from '../support/rough.ts'

const PHONE = '013912345678'
const DEVICE = '13912345678'

const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 54.687205,
  longitude: -25.27973,
  altitude: -12,
  speed: 15.25,
  heading: 214,
  said: { ignition: false },
} as const

/** A position: west, fixed, and what follows of tagged values. */
const position = (tagged = '', { status = 0x0a, date = '261120143015' } = {}) =>
  bytes(`00000000 ${hex(4, status)} ${hex(4, 54_687_205)} ${hex(4, 25_279_730)} fff4 0225 00d6 ${date} ${tagged}`)

const alarmed = (alarms: string, body: Buffer) => Buffer.concat([bytes(alarms), body.subarray(4)])

/** The same with signs in its numbers. */
function signed(body: Buffer): Buffer {
  body.writeInt32BE(-54_687_205, 8)
  body.writeInt32BE(-25_279_730, 12)
  return body
}

const SATELLITES = '01040000000130011f310109'

export default {
  costly: {
    'a batch of entries without content': message(0x0704, Buffer.alloc(COSTLY_SIZE)),
    'tagged values without content': message(0x0200, Buffer.concat([position(), Buffer.alloc(COSTLY_SIZE)])),
    escapes: `~${many('}\x01')}~`,
    brackets: many('('),
  },
  frames: [
    {
      title: 'registration, authentication, a position',
      frames: [
        {
          frame: message(0x0100, bytes('0001 0002 41424344450000 00'), { serial: 7 }),
          device: DEVICE,
          none: 'login',
          reply: message(0x8100, Buffer.concat([bytes('0007 00'), Buffer.from(PHONE)]), { serial: 0 }),
          refusal: message(0x8100, bytes('0007 04'), { serial: 0 }),
        },
        { frame: message(0x0102, Buffer.from(PHONE)), device: DEVICE, none: 'login', reply: accepted(0x0102) },
        {
          frame: message(0x0200, position(SATELLITES), { serial: 0x7e7d }),
          device: DEVICE,
          fixes: [{ ...FIX, satellites: 9 }],
          reply: message(0x8001, bytes('7e7d 0200 00'), { serial: 0 }),
        },
        { frame: strayed(message(0x0200, position())), device: DEVICE, fixes: [FIX], reply: accepted(0x0200) },
        { frame: flipped(strayed(message(0x0200, position())), 300), error: 'checksum' },
        { frame: strayed(strayed(message(0x0200, position()))), error: 'malformed' },
        { frame: message(0x0002, Buffer.alloc(0)), device: DEVICE, none: 'heartbeat', reply: accepted(0x0002) },
        { frame: message(0x0506, Buffer.alloc(0)), device: DEVICE, none: 'heartbeat', reply: accepted(0x0506) },
        { frame: message(0x0001, bytes('0001 8103 00')), device: DEVICE, none: 'command answer' },
        {
          frame: message(0x0004, Buffer.alloc(0)),
          device: DEVICE,
          none: 'time',
          reply: message(0x8004, bytes('261120120000'), { serial: 0 }),
        },
        {
          frame: message(0x0109, Buffer.alloc(0)),
          device: DEVICE,
          none: 'time',
          reply: message(0x8109, bytes('07ea 0b14 0c0000'), { serial: 0 }),
        },
        { frame: message(0x0900, bytes('41 0102')), device: DEVICE, reply: accepted(0x0900) },
        {
          frame: message(0x0900, Buffer.from('@\0\x18GTSL|6|1|0|12345678|1|\r\n')),
          device: DEVICE,
          none: 'driver',
          said: { driver: '12345678' },
          reply: accepted(0x0900),
        },
        {
          frame: message(0x0900, bytes('f0 261120063015 000201 02 052b0150 05300231ba 04000001 0160a85c')),
          device: DEVICE,
          said: { ignition: true, charging: true, external_voltage: 12.73 },
          reply: accepted(0x0900),
        },
        {
          frame: message(0x0900, bytes('f0 261120063015 010203 013800 000c000a 029dc58c 04b99b60')),
          device: DEVICE,
          said: { ignition: false },
          reply: accepted(0x0900),
        },
        {
          frame: message(0x0900, bytes('f0 261120063015 000201 02 052b0150 05300231')),
          device: DEVICE,
          reply: accepted(0x0900),
        },
        {
          frame: message(0x0f12, Buffer.concat([bytes('07 0102 01'), position().subarray(4), bytes('0a0b')])),
          device: DEVICE,
          fixes: [FIX],
          reply: accepted(0x0f12),
        },
      ],
    },
    {
      title: 'positions of the other kinds',
      frames: [
        {
          frame: message(0x0200, position('', { status: 0 })),
          device: DEVICE,
          fixes: [{ ...FIX, longitude: 25.27973, valid: false }],
          reply: accepted(0x0200),
        },
        {
          frame: message(0x0200, position('', { status: 6 })),
          device: DEVICE,
          fixes: [{ ...FIX, latitude: -FIX.latitude, longitude: 25.27973 }],
          reply: accepted(0x0200),
        },
        ...[2, 0x0e].map((status) => ({
          frame: message(0x0200, signed(position('', { status }))),
          device: DEVICE,
          fixes: [{ ...FIX, latitude: -FIX.latitude, longitude: FIX.longitude }],
          reply: accepted(0x0200),
        })),
        {
          frame: message(0x0200, position('', { status: 0, date: '000000000000' })),
          device: DEVICE,
          none: 'no fix',
          said: { ignition: false },
          reply: accepted(0x0200),
        },
        {
          frame: message(0x0201, Buffer.concat([u(2, 9), position('', { status: 1, date: '000000000000' })])),
          device: DEVICE,
          none: 'no fix',
          said: { ignition: true },
          reply: accepted(0x0201),
        },
        {
          frame: message(0x0200, position('', { status: 0, date: 'ff0000143015' })),
          device: DEVICE,
          none: 'no fix',
          said: { ignition: false },
          reply: accepted(0x0200),
        },
        {
          frame: message(0x0200, position('', { date: '261320143015' })),
          error: 'malformed',
          envelope: { device: DEVICE, reply: accepted(0x0200) },
        },
        {
          frame: message(0x0201, Buffer.concat([bytes('0009'), position()])),
          device: DEVICE,
          fixes: [FIX],
          reply: accepted(0x0201),
        },
        {
          frame: message(0x0704, batch([position(SATELLITES), position('', { date: '261320143015' }), position()])),
          device: DEVICE,
          fixes: [{ ...FIX, satellites: 9 }, FIX],
          unreadable: [1],
          reply: accepted(0x0704),
        },
        {
          frame: message(0x0704, batch(Array(10).fill(position(SATELLITES)))),
          isTypical: true,
          device: DEVICE,
          fixes: Array.from({ length: 10 }, () => ({ ...FIX, satellites: 9 })),
          reply: accepted(0x0704),
        },
        {
          frame: message(0x0704, batch([position('', { status: 0, date: '000000000000' })])),
          device: DEVICE,
          none: 'no fix',
          reply: accepted(0x0704),
        },
        {
          frame: message(0x0210, Buffer.concat([Buffer.of(28), position(), Buffer.of(30), position('0100')])),
          device: DEVICE,
          fixes: [FIX, FIX],
          reply: accepted(0x0210),
        },
        { frame: message(0x0210, bytes('06010203040506')), device: DEVICE, fixes: [], reply: accepted(0x0210) },
        {
          frame: message(0x0801, Buffer.concat([bytes('0102030400000000'), position(), bytes('ffd8ffe0')])),
          device: DEVICE,
          fixes: [FIX],
          reply: message(0x8800, bytes('01020304'), { serial: 0 }),
        },
        {
          frame: message(0x0801, Buffer.concat([bytes('0102030400000000 ffd8ffe0'), Buffer.alloc(40)])),
          device: DEVICE,
          none: 'photo',
          reply: message(0x8800, bytes('01020304'), { serial: 0 }),
        },
        {
          frame: message(0x0200, Buffer.alloc(32), { bits: 0x0400 }),
          device: DEVICE,
          fixes: [],
          reply: accepted(0x0200),
        },
      ],
    },
    {
      title: 'a batch in three parts, and a photo in two',
      frames: [
        ...parts(0x0704, batch([position(SATELLITES), position()]), 3).map(
          (frame, index, all): OwnFrame =>
            index < all.length - 1
              ? { frame, device: DEVICE, none: 'part' }
              : {
                  frame,
                  device: DEVICE,
                  fixes: [{ ...FIX, satellites: 9 }, FIX],
                  reply: [1, 2, 3].map((serial) =>
                    message(0x8001, Buffer.concat([u(2, serial), bytes('070400')]), { serial: 0 }),
                  ),
                },
        ),
        {
          frame: message(0x0801, Buffer.concat([bytes('0102030400000000'), position(), bytes('ffd8')]), {
            part: [1, 2],
          }),
          device: DEVICE,
          fixes: [FIX],
          reply: accepted(0x0801),
        },
        {
          frame: message(0x0801, bytes('ffd9'), { part: [2, 2] }),
          device: DEVICE,
          none: 'photo',
          reply: accepted(0x0801),
        },
      ],
    },
    {
      title: 'what terminals say beside the position',
      frames: (
        [
          ['5602094b 610204b0', { battery_percent: 75, external_voltage: 12 }],
          ['56020900', { battery_percent: 90 }],
          ['690201a1', { battery_voltage: 4.17 }],
          ['6011 006500001234567890 3132333435363738', { driver: '12345678' }],
          ['82020085', { external_voltage: 13.3 }],
          ['d40164 d50201a2', { battery_percent: 100, battery_voltage: 4.18 }],
          ['e1012d', { battery_percent: 45 }],
          ['e1020075', { external_voltage: 11.7 }],
          ['e3060064019a0000', { battery_percent: 100, battery_voltage: 4.1 }],
          ['e306000005050000', { external_voltage: 12.85 }],
          ['e4020056 e50101', { charging: true, battery_percent: 86, moving: true }],
          ['e4020164 e50100', { charging: false, battery_percent: 100, moving: false }],
          ['f10400003090', { external_voltage: 12.432 }],
          ['f4020010', { alarms: ['accident'] }],
          ['f60401020001', { charging: true }],
          ['f60401020003', { charging: false }],
          ['f70600000e88 02 46', { battery_voltage: 3.72, charging: true, battery_percent: 70 }],
          ['fe0140', { battery_percent: 64 }],
          ['bd05 4944313233', { driver: 'ID123' }],
          ['eb0d 0004002d0fa5 000300a85c 0001', { battery_voltage: 4.005, battery_percent: 92 }],
          ['eb0d 0006002d00002db4 000300e151', { external_voltage: 11.7, battery_percent: 81 }],
          ['eb08 000600c5fe7fffff', { moving: true }],
          ['eb08 000600c5feffffff', { moving: false }],
          ['eb10 00060089ffffeffe 000600c5ffffffaf', { alarms: ['power_off', 'tampering', 'vibration'] }],
        ] as const
      ).map(([tagged, said]) => ({
        frame: message(0x0200, position(tagged)),
        device: DEVICE,
        fixes: [{ ...FIX, said: { ...FIX.said, ...said } }],
        reply: accepted(0x0200),
      })),
    },
    {
      title: 'status and alarms',
      frames: [
        {
          frame: message(0x0200, alarmed('300381a1', position('', { status: 0x0440_000b }))),
          device: DEVICE,
          fixes: [
            {
              ...FIX,
              said: {
                ignition: true,
                moving: true,
                charging: true,
                alarms: [
                  ...(['sos', 'gps_antenna_cut', 'low_power', 'power_cut', 'low_battery', 'vibration'] as const),
                  ...(['tampering', 'movement', 'accident'] as const),
                ],
              },
            },
          ],
          reply: accepted(0x0200),
        },
        {
          frame: message(0x0200, alarmed('00038001', position()), { phone: `00000${PHONE}000`, version: 1 }),
          device: `${DEVICE}000`,
          fixes: [{ ...FIX, said: { ...FIX.said, alarms: ['sos'] } }],
          reply: message(0x8001, bytes('0001 0200 00'), { phone: `00000${PHONE}000`, version: 1, serial: 0 }),
        },
      ],
    },
    {
      title: 'the version of 2019, and an IMEI in place of a phone number',
      frames: [
        {
          frame: message(0x0200, position(), { phone: '00000866496077582164', version: 1 }),
          device: '866496077582164',
          fixes: [FIX],
          reply: message(0x8001, bytes('0001 0200 00'), { phone: '00000866496077582164', version: 1, serial: 0 }),
        },
        {
          frame: message(0x0200, position(), { phone: '4f07788ef676' }),
          device: '868935060005020',
          fixes: [FIX],
          reply: message(0x8001, bytes('0001 0200 00'), { phone: '4f07788ef676', serial: 0 }),
        },
      ],
    },
    {
      title: 'a device that reports local time',
      settings: { timeZone: '+03:00' },
      frames: [
        {
          frame: message(0x0200, position()),
          device: DEVICE,
          fixes: [{ ...FIX, time: '2026-11-20T14:30:15Z' }],
          reply: accepted(0x0200),
        },
      ],
    },
    {
      title: 'data of a GL100 that was passed through',
      settings: { model: 'GL100' },
      frames: [
        {
          frame: message(0x0900, Buffer.concat([bytes('54'), position().subarray(4)])),
          device: DEVICE,
          fixes: [FIX],
          reply: accepted(0x0900),
        },
      ],
    },
    {
      title: 'locks of Jointech',
      frames: [
        {
          frame: escapedFrame(
            withXor(bytes(`5501 8c18 ${PHONE} 2a 201126063015 54412323 025167838 4 08 6b 00 09 00000001 aa`)),
          ),
          device: DEVICE,
          fixes: [
            {
              time: '2026-11-20T06:30:15Z',
              latitude: -54.687205,
              longitude: 25.27973,
              speed: 4.115556,
              heading: 214,
              satellites: 9,
              said: { charging: true },
            },
          ],
          reply: escapedFrame(withXor(bytes(`4401 0003 ${PHONE} 01 5501 00`))),
        },
        {
          frame: escapedFrame(withXor(bytes(`5501 8c13 ${PHONE} 2a 311326063015 54412323 025167838 4 08 6b 00 09`))),
          error: 'malformed',
          envelope: { device: DEVICE, reply: escapedFrame(withXor(bytes(`4401 0003 ${PHONE} 01 5501 00`))) },
        },
        {
          frame: escapedFrame(withXor(bytes(`5502 0c13 ${PHONE} 2a 201126063015 54412323 025167838 2 08 6b 00 09`))),
          device: DEVICE,
          fixes: [
            {
              time: '2026-11-20T06:30:15Z',
              latitude: 54.687205,
              longitude: -25.27973,
              valid: false,
              speed: 4.115556,
              heading: 214,
              satellites: 9,
            },
          ],
        },
        {
          frame: '(794104004140,1,001,BASE,2,TIME)',
          device: '794104004140',
          none: 'time',
          reply: '(794104004140,1,001,BASE,2,20261120120000)',
        },
        { frame: '(794104004140,1,001,ELOCK,3)', device: '794104004140' },
        { frame: '(x,1)', error: 'malformed' },
      ],
    },
  ],
  corrections: [
    {
      reason:
        'the standard reserves bit 26 of the status: where it is not set, it does not say that the battery is not charged',
      says: eachSaid(({ charging, ...rest }) => ({ ...rest, charging: charging || undefined })),
    },
    {
      reason: 'the card has the last eight digits; a battery of 3.67 V is not at 0 %',
      frames: ['jt808-035'],
      says: eachSaid((each) => ({ ...each, batteryPercent: undefined, driver: '90017383' })),
    },
    {
      reason: 'no vehicle has a supply of 3.0 V: what FE of two bytes is, is not known',
      frames: ['jt808-038'],
      says: eachSaid((each) => ({ ...each, powerV: undefined })),
    },
    {
      reason: 'what is above 6 V is no battery of a tracker, but its supply',
      says: eachSaid(({ batteryV = 0, batteryPercent, ...rest }) =>
        batteryV > 6 ? { ...rest, powerV: batteryV } : { ...rest, batteryPercent, batteryV: batteryV || undefined },
      ),
    },
    {
      reason: 'D5 of two bytes is a voltage, and this one has 14; 0.2 V feeds no tracker',
      frames: ['jt808-053', 'jt808-090'],
      says: eachSaid((each) => ({ ...each, batteryV: undefined, powerV: undefined })),
    },
    {
      reason: 'alarm 8 is "main power is off", alarm 7 "main power is low" (table 24 of 2013)',
      frames: ['jt808-021', 'jt808-046', 'jt808-056'],
      says: eachSaid(({ alarms = [], ...rest }) => ({
        ...rest,
        alarms: alarms.map((each) => MAIN_POWER[each] ?? each),
      })),
    },
    {
      reason: 'the same, besides the alarm of 0089',
      frames: ['jt808-079'],
      says: ({ positions }) => ({
        positions: positions.map((each, i) =>
          i === 3 ? { ...each, said: { ...each.said, alarms: ['powerCut', 'powerOff'] } } : each,
        ),
      }),
    },
  ],
} satisfies ProtocolCases

const MAIN_POWER: Readonly<Record<string, string>> = { powerOff: 'powerCut', lowBattery: 'lowPower' }

interface MessageOptions {
  readonly serial?: number
  readonly phone?: string
  readonly version?: number
  readonly part?: readonly [index: number, count: number]
  /** Further bits of the properties. */
  readonly bits?: number
}

function message(type: number, body: Buffer, options: MessageOptions = {}): Buffer {
  const { serial = 1, phone = PHONE, version, part, bits = 0 } = options
  const properties = (body.length & 0x3ff) | (version === undefined ? 0 : 0x4000) | (part ? 0x2000 : 0) | bits
  const head = `${hex(2, type)} ${hex(2, properties)} ${version === undefined ? '' : hex(1, version)} ${phone} ${hex(2, serial)}`
  const split = part ? Buffer.concat([u(2, part[1]), u(2, part[0])]) : Buffer.alloc(0)
  return escapedFrame(withXor(Buffer.concat([bytes(head), split, body])))
}

/** A frame with a 00 behind its checksum. */
function strayed(frame: Buffer): Buffer {
  return Buffer.concat([frame.subarray(0, -1), Buffer.of(0, 0x7e)])
}

function accepted(type: number): Buffer {
  return message(0x8001, bytes(`0001 ${hex(2, type)} 00`), { serial: 0 })
}

function batch(entries: readonly Buffer[]): Buffer {
  return Buffer.concat([u(2, entries.length), Buffer.of(0), ...entries.flatMap((each) => [u(2, each.length), each])])
}

function parts(type: number, body: Buffer, count: number): Buffer[] {
  const size = Math.ceil(body.length / count)
  return Array.from({ length: count }, (_, i) =>
    message(type, body.subarray(i * size, (i + 1) * size), { serial: i + 1, part: [i + 1, count] }),
  )
}

function withXor(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.of(xor(content))])
}

function hex(size: number, value: number): string {
  return u(size, value).toString('hex')
}
