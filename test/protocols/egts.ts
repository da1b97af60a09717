import { crc8Egts, crc16CcittFalse } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '356307042441013'

const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 54.687205,
  longitude: -25.27973,
  speed: 15,
  heading: 314,
  said: { moving: false },
}
const AUTHENTICATION = 1
const TELEMATICS = 2

const IDENTITY = subrecord(1, Buffer.concat([le(4, 77), bytes('02'), Buffer.from(IMEI)]))
/** Fixed, west, with an altitude below the sea. */
const POSITION = subrecord(0x10, Buffer.concat([place(), bytes('c1 1cc2 3a 000000 01 00 0c0000')]))
/** The same in motion, sent because the panic button was pressed. */
const ALARMED = subrecord(0x10, Buffer.concat([place(), bytes('d1 1cc2 3a 000000 01 0d 0c0000')]))
const PLAIN = subrecord(0x10, Buffer.concat([place(), bytes('20 1c82 3a 000000 01 00')]))
const EXTENDED = subrecord(0x11, bytes('0f 0100 5a00 0200 09'))
/** As PLAIN, with the flag of an altitude, which does not follow. */
const SHORT = subrecord(0x10, Buffer.concat([place(), bytes('a0 1c82 3a 000000 01 00')]))
const SENSORS = subrecord(0x12, bytes('000000'))

const TEN = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]

const south = { ...FIX, latitude: -FIX.latitude, longitude: -FIX.longitude, valid: false }

export default {
  costly: {
    'records without content': packet(1, Buffer.from(many('\0'))),
    'a record of subrecords without content': packet(1, record(1, Buffer.alloc(COSTLY_SIZE - 30))),
    'a record of positions': packet(
      1,
      record(1, Buffer.from(many(POSITION.toString('latin1')), 'latin1').subarray(0, -30)),
    ),
    headers: many('\x01\0\0\x0b\0\0'),
  },
  frames: [
    {
      title: 'a terminal that names itself',
      frames: [
        {
          frame: packet(7, record(3, IDENTITY, { service: AUTHENTICATION })),
          device: IMEI,
          none: 'login',
          reply: [response(0, 7, 3, AUTHENTICATION), resultCode(1, 0)],
          refusal: resultCode(1, 151),
        },
        {
          frame: packet(11, record(7, IDENTITY, { service: AUTHENTICATION }), record(8, PLAIN)),
          device: IMEI,
          fixes: [south],
          reply: [response(2, 11, 7, AUTHENTICATION), response(3, 11, 8), resultCode(4, 0)],
          refusal: resultCode(4, 151),
        },
        {
          frame: packet(8, record(4, Buffer.concat([POSITION, EXTENDED]), { object: 99 }), record(5, SENSORS)),
          fixes: [{ ...FIX, altitude: -12, hdop: 0.9, satellites: 9 }],
          reply: [response(5, 8, 4), response(6, 8, 5)],
        },
        { frame: packet(9, record(6, SENSORS)), none: 'no place', reply: response(7, 9, 6) },
        { frame: packet(9, record(6, SENSORS, { service: 10 })), reply: response(8, 9, 6, 10) },
        {
          frame: envelope(9, 2, Buffer.concat([bytes('0300 aabbcc'), record(6, PLAIN)])),
          fixes: [south],
          reply: response(9, 9, 6),
        },
        {
          frame: packet(9, record(6, ALARMED)),
          fixes: [{ ...FIX, altitude: -12, said: { moving: true, alarms: ['sos'] } }],
          reply: response(10, 9, 6),
        },
        { frame: response(0, 5, 1), none: 'command answer' },
        { frame: packet(10), none: 'command answer' },
        {
          frame: packet(11, ...TEN.map((number) => record(number, Buffer.concat([POSITION, EXTENDED])))),
          isTypical: true,
          fixes: TEN.map(() => ({ ...FIX, altitude: -12, hdop: 0.9, satellites: 9 })),
          reply: TEN.map((number) => response(11 + number, 11, number)),
        },
      ],
    },
    {
      title: 'a terminal without an IMEI',
      frames: [
        {
          frame: packet(7, record(3, subrecord(1, bytes('4d000000 00')), { service: AUTHENTICATION })),
          device: '77',
          none: 'login',
          reply: [response(0, 7, 3, AUTHENTICATION), resultCode(1, 0)],
          refusal: resultCode(1, 151),
        },
      ],
    },
    {
      title: 'a relay',
      frames: [
        {
          frame: packet(
            1,
            record(1, Buffer.concat([POSITION, PLAIN]), { object: 45_177 }),
            record(2, subrecord(0x10, bytes('0102')), { object: 7 }),
            record(3, PLAIN, { object: 3_636_500_978, times: true }),
            record(4, SHORT, { object: 45_177 }),
          ),
          fixes: [
            { device: '45177', ...FIX, altitude: -12 },
            { device: '45177', ...south },
            { device: '3636500978', ...south },
            { device: '45177', ...south },
          ],
          unreadable: [1],
          reply: [response(0, 1, 1), response(1, 1, 2, TELEMATICS, 132), response(2, 1, 3), response(3, 1, 4)],
        },
        {
          frame: packet(2, record(1, subrecord(0x10, bytes('0102')))),
          error: 'truncated',
          envelope: { reply: [response(4, 2, 1, TELEMATICS, 132)] },
        },
        { frame: packet(3, bytes('ffff 0100 00 02 02')), error: 'truncated' },
        { frame: withFlags(packet(4, record(1, PLAIN)), 0x08), error: 'unsupported' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'EGTS_SR_EXT_POS_DATA: HDOP is in hundredths',
      says: eachPosition(({ hdop }) => (hdop === undefined ? {} : { hdop: hdop / 100 })),
    },
    {
      reason: 'all numbers are little-endian, RPID too; EGTS_SR_RESULT_CODE is 9',
      says: ({ replies = [] }) => ({ replies: replies.map(({ hex = '' }) => ({ hex: mended(hex).toString('hex') })) }),
    },
    {
      reason: 'OID: a packet of a relay is of several objects; that of each position is compared',
      frames: ['egts-002', 'egts-004'],
      says: { deviceId: undefined },
    },
  ],
  exceptions: { 'egts-013': 'a record with 55 positions yields all of them, where the peer yields the last' },
} satisfies ProtocolCases

function place(): Buffer {
  const seconds = (Date.UTC(2026, 10, 20, 6, 30, 15) - Date.UTC(2010, 0, 1)) / 1000
  return Buffer.concat([
    le(4, seconds),
    ...[FIX.latitude / 90, -FIX.longitude / 180].map((part) => le(4, Math.round(part * 0xffff_ffff))),
  ])
}

function le(size: number, value: number): Buffer {
  return Buffer.from(u(size, value).toReversed())
}

function subrecord(type: number, data: Buffer): Buffer {
  return Buffer.concat([u(1, type), le(2, data.length), data])
}

interface RecordOptions {
  readonly service?: number
  readonly object?: number
  /** Whether event and time precede the service. */
  readonly times?: boolean
}

function record(number: number, content: Buffer, { service = TELEMATICS, object, times }: RecordOptions = {}): Buffer {
  const flags = (object === undefined ? 0 : 1) | (times ? 6 : 0)
  const optional = [...(object === undefined ? [] : [le(4, object)]), Buffer.alloc(times ? 8 : 0)]
  return Buffer.concat([
    le(2, content.length),
    le(2, number),
    u(1, flags),
    ...optional,
    u(1, service),
    u(1, service),
    content,
  ])
}

function packet(id: number, ...records: readonly Buffer[]): Buffer {
  return envelope(id, 1, Buffer.concat(records))
}

function response(id: number, answered: number, number: number, service = TELEMATICS, result = 0): Buffer {
  const content = subrecord(0, Buffer.concat([le(2, number), u(1, result)]))
  return envelope(id, 0, Buffer.concat([le(2, answered), u(1, 0), record(0, content, { service })]))
}

function resultCode(id: number, result: number): Buffer {
  return envelope(id, 1, record(0, subrecord(9, u(1, result)), { service: AUTHENTICATION }))
}

function envelope(id: number, type: number, data: Buffer): Buffer {
  const header = Buffer.concat([bytes('0100000b00'), le(2, data.length & 0xffff), le(2, id), u(1, type)])
  const end = data.length === 0 ? [] : [data, le(2, crc16CcittFalse(data))]
  return Buffer.concat([header, u(1, crc8Egts(header)), ...end])
}

function withFlags(frame: Buffer, flags: number): Buffer {
  frame[2] = flags
  frame[10] = crc8Egts(frame.subarray(0, 10))
  return frame
}

/** An answer of the vectors as the specification has it. */
function mended(hex: string): Buffer {
  const frame = Buffer.from(hex, 'hex')
  const data = frame.subarray(11, -2)
  if (frame[9] === 0) data.subarray(0, 2).swap16()
  else data[7] = 9
  frame.writeUInt16LE(crc16CcittFalse(data), frame.length - 2)
  return frame
}
