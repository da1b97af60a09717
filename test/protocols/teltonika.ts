import { crc16Arc } from '../../protocols/kit/index.ts'
import {
  type AvlRecord,
  avlContent,
  avlDatagram,
  avlEnvelope,
  avlLogin,
  avlPacket,
  bytes,
  u,
} from '../support/encode.ts'
import { COSTLY_SIZE, many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const IMEI = '352093086403655'

const RECORD: AvlRecord = {
  time: Date.UTC(2026, 10, 20, 6, 30, 15, 250),
  latitude: 54.6872001,
  longitude: -25.2797003,
  altitude: -12,
  angle: 214,
  satellites: 9,
  speed: 54,
  io: {
    1: [
      [0xef, 1],
      [0x15, 4],
    ],
    2: [
      [0xb5, 13],
      [0xb6, 8],
    ],
    4: [[0xf1, 24601]],
    8: [[0x4e, 123456]],
  },
}
const FIX = {
  time: RECORD.time,
  latitude: 54.6872001,
  longitude: -25.2797003,
  altitude: -12,
  speed: 15,
  heading: 214,
  satellites: 9,
  hdop: 0.8,
  said: { ignition: true, driver: '000000000001e240' },
}

/** Elements that say something: ignition, movement, battery, charger, SOS, unplugged; voltages; an iButton. */
const TELLING: AvlRecord = {
  ...RECORD,
  io: {
    1: [
      [0xef, 0],
      [0xf0, 1],
      [0x71, 87],
      [0x74, 1],
      [0xec, 1],
      [0xf6, 0],
      [0xfc, 1],
    ],
    2: [
      [0x42, 12_345],
      [0x43, 4021],
    ],
    8: [[0x4e, 0x1122_3344_5566]],
  },
}
const TOLD = {
  ignition: false,
  moving: true,
  external_voltage: 12.345,
  battery_voltage: 4.021,
  battery_percent: 87,
  charging: true,
  driver: '0000112233445566',
  alarms: ['sos', 'power_cut'] as const,
}
/** A record of codec 7: a time, movement and battery voltage, no place. */
const UNPLACED = bytes('52aa1432 06 01 f001 01 430fb5')
/** One with a place: 52.5, 13.25. */
const PLACED = bytes('52aa1432 01 01 42520000 41540000')
const PLACE = {
  time: new Date(Date.UTC(2007, 0, 1) + (0x52aa1432 & 0x3fff_ffff) * 1000).toISOString(),
  latitude: 52.5,
  longitude: 13.25,
}

/** Groups of elements of codec 8E: none of fixed length, 16,000 of a length of 0. */
const EMPTY_ELEMENTS = Buffer.concat([bytes('0000 0000 0000 0000 0000 0000 3e80'), Buffer.alloc(COSTLY_SIZE)])

/** A document of Codec JSON: members of the record, and others beside `state`. */
const report = (record: object, others = {}) => {
  const { time: ts, satellites: sat, altitude: alt, angle: ang, speed: sp, latitude, longitude } = RECORD
  const usual = { ts, latlng: `${latitude},${longitude}`, alt, ang, sat, sp, evt: 0, pr: 0, 182: 8, 239: 1 }
  return JSON.stringify({ state: { reported: { ...usual, ...record } }, ...others })
}
const REPORT = report({})
const REPORTED = { ...FIX, said: { ignition: true } }

/** A packet of codec 0D: what came from the serial port at a time. */
const serial = (text: string) => {
  const content = Buffer.concat([
    bytes('0d01 06'),
    u(4, text.length + 4),
    u(4, 1714558530),
    Buffer.from(text),
    bytes('01'),
  ])
  return Buffer.concat([bytes('00000000'), u(4, content.length), content, u(4, crc16Arc(content))])
}

/** By older documents 0 stands where 1 does now. */
const older = avlDatagram(IMEI, 0x08, [RECORD]).fill(0, 4, 5)

export default {
  costly: {
    'a document of many members': post(`/?id=${IMEI}`, `{"state":{"reported":{${many('"1":1,').slice(0, -60)}"2":1}}}`),
    'records without content': Buffer.concat([bytes('00000000 0000ffff 8eff'), Buffer.alloc(COSTLY_SIZE)]),
    'elements without content': Buffer.concat([bytes('00000000 0000ffff 8e01'), Buffer.alloc(24), EMPTY_ELEMENTS]),
  },
  frames: [
    {
      title: 'a login and a packet of each codec',
      frames: [
        { frame: avlLogin(IMEI), device: IMEI, none: 'login', reply: bytes('01'), refusal: bytes('00') },
        {
          frame: avlPacket(0x08, [RECORD, { ...RECORD, satellites: 0 }]),
          fixes: [FIX, { ...FIX, satellites: 0, valid: false }],
          reply: bytes('00000002'),
        },
        { frame: avlPacket(0x8e, [RECORD]), fixes: [FIX], reply: bytes('00000001') },
        { frame: avlPacket(0x10, [RECORD]), fixes: [FIX], reply: bytes('00000001') },
        { frame: serial('GTSL|6|1|0|11477000|1|\r\n'), none: 'command', said: { driver: '11477000' } },
        { frame: serial('42'), none: 'command' },
      ],
    },
    {
      title: 'what elements say, of each codec',
      frames: [
        ...([0x08, 0x8e, 0x10] as const).map((codec) => ({
          frame: avlPacket(codec, [TELLING, RECORD]),
          fixes: [{ ...FIX, hdop: undefined, said: TOLD }, FIX],
          reply: bytes('00000002'),
        })),
        {
          frame: avlPacket(0x08, [
            {
              ...RECORD,
              io: {
                2: [
                  [0x42, 0xffff],
                  [0x43, 0xffff],
                ],
              },
            },
          ]),
          fixes: [{ ...FIX, hdop: undefined, said: undefined }],
          reply: bytes('00000001'),
        },
        {
          frame: avlPacket(0x8e, [
            { ...RECORD, io: { 1: [[0x1ef, 1]], 8: [[0x14e, 5]] } },
            { ...RECORD, io: { 8: [[0xcf, 0]] } },
          ]),
          fixes: [1, 2].map(() => ({ ...FIX, hdop: undefined, said: undefined })),
          reply: bytes('00000002'),
        },
        {
          frame: avlEnvelope(Buffer.concat([bytes('0701'), UNPLACED, bytes('01')])),
          none: 'no place',
          said: { moving: true, battery_voltage: 4.021 },
          reply: bytes('00000001'),
        },
        {
          frame: avlEnvelope(Buffer.concat([bytes('0702'), PLACED, UNPLACED, bytes('02')])),
          fixes: [PLACE],
          said: { moving: true, battery_voltage: 4.021 },
          reply: bytes('00000002'),
        },
        {
          frame: avlEnvelope(Buffer.concat([bytes('0702'), UNPLACED, PLACED, bytes('02')])),
          fixes: [PLACE],
          reply: bytes('00000002'),
        },
      ],
    },
    {
      title: 'records that cannot be read, and none',
      frames: [
        {
          frame: avlEnvelope(bytes('99 02 000102030405 02')),
          error: 'unsupported',
          envelope: { reply: bytes('00000002') },
        },
        {
          frame: avlEnvelope(Buffer.concat([avlContent(0x08, [RECORD, RECORD]).subarray(0, -20), bytes('02')])),
          error: 'truncated',
          envelope: { reply: bytes('00000002') },
        },
      ],
    },
    {
      title: 'a datagram',
      transport: 'udp',
      frames: [
        { frame: avlDatagram(IMEI, 0x08, [RECORD]), device: IMEI, fixes: [FIX], reply: bytes('0005 cafe 01 05 01') },
        { frame: older, device: IMEI, fixes: [FIX], reply: bytes('0005 cafe 00 05 01') },
      ],
    },
    {
      title: 'Codec JSON over HTTP',
      transport: 'http',
      frames: [
        { frame: post(`/?imei=${IMEI}`, REPORT), device: IMEI, fixes: [REPORTED] },
        { frame: post(`/${IMEI}/data`, REPORT), device: IMEI, fixes: [REPORTED] },
        { frame: post(`/data?id=${IMEI}&token=s3cret`, REPORT), device: IMEI, secret: 's3cret', fixes: [REPORTED] },
        { frame: post('/', report({}, { imei: IMEI })), device: IMEI, fixes: [REPORTED] },
        {
          frame: post(`/${IMEI}`, report({ sat: 0, alt: 'NaN', ang: null, 182: undefined })),
          device: IMEI,
          fixes: [
            { ...REPORTED, valid: false, altitude: undefined, heading: undefined, satellites: 0, hdop: undefined },
          ],
        },
        {
          frame: post(`/${IMEI}`, report({ latlng: undefined, 66: 12_345, 78: '00AB' })),
          device: IMEI,
          none: 'no place',
          said: { ignition: true, external_voltage: 12.345, driver: '00AB' },
        },
        { frame: post(`/${IMEI}`, '{"RSP":"OK"}'), device: IMEI },
        { frame: post(`/${IMEI}`, report({ latlng: '54.6872' })), error: 'malformed' },
        { frame: post('/', REPORT), error: 'malformed' },
      ],
    },
    {
      title: 'Codec JSON over MQTT, whose topic names the device',
      transport: 'mqtt',
      settings: { model: 'FMB920' },
      frames: [
        { frame: report({ sp: 1, 24: 54 }), fixes: [REPORTED] },
        { frame: REPORT, fixes: [REPORTED] },
      ],
    },
  ],
  corrections: [
    {
      reason: 'a photo would be downloaded over the SIM card of the device and thrown away: nothing asks for it',
      frames: ['teltonika-049', 'teltonika-050'],
      says: { replies: [] },
    },
    {
      reason: 'a record whose GPS element has a time but no coordinates is no fix, where the peer makes 0/0 of it',
      frames: ['teltonika-031'],
      says: ({ positions }) => ({ positions: positions.filter(({ lat, lon }) => lat !== 0 || lon !== 0) }),
    },
  ],
  exceptions: {
    'teltonika-028': 'its length is 0: on a connection its bytes are the zeros in front of another packet, and noise',
  },
} satisfies ProtocolCases
