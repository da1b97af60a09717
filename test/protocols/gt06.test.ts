import { describe, expect, it } from 'vitest'
import gt06 from '../../protocols/gt06/index.ts'
import type { Settings } from '../../protocols/kit/index.ts'
import { bytes, gt06Date, gt06Flags, gt06Frame, gt06Gps, gt06Place, u } from '../support/encode.ts'
import { decodesRough, flipped, framesOfParts, framesRough, newSession, reasonOf, within } from '../support/rough.ts'
import { IMEI, POSITION } from './gt06.ts'

const FIX = {
  time: Date.UTC(2026, 10, 20, 6, 30, 15),
  latitude: 54.687205,
  longitude: -25.27973,
  valid: true,
  speed: 15,
  heading: 214,
  satellites: 9,
}

const CELL = bytes('01cc 00 287d 001fb8')
const GPS = gt06Gps(POSITION)
const LOGIN = gt06Frame(0x01, bytes(`0${IMEI}`))
const LOCATION = gt06Frame(0x22, Buffer.concat([GPS, CELL, bytes('010000')]), { serial: 0x1234 })

const MODULES = gt06Frame(
  0x70,
  Buffer.concat([
    bytes('0000000102 0035 0001 01 0033 0012'),
    Buffer.concat([u(4, FIX.time / 1000), bytes('09 fff4'), gt06Place(POSITION), Buffer.of(54), gt06Flags(POSITION)]),
    bytes('0028 0001 0d 002c 0002 0102'),
  ]),
  { long: true, serial: 7 },
)

describe('gt06', () => {
  it("answers the specification's own login", () => {
    expect(decode(bytes('78780D01012345678901234500018CDD0D0A'))).toEqual({
      device: '123456789012345',
      none: 'login',
      reply: bytes('787805010001D9DC0D0A'),
    })
  })

  it('keeps all digits of an id that begins with another digit than 0', () => {
    expect(decode(gt06Frame(0x01, bytes('9123456789012345'))).device).toBe('9123456789012345')
  })

  it('refuses a login whose id has a character that is no digit', () => {
    expect(reasonOf(() => decode(gt06Frame(0x01, bytes('0a23456789012345'))))).toBe('malformed')
  })

  it.each([0x10, 0x12, 0x16, 0x1a, 0x1e, 0x22, 0x26, 0x27, 0x31, 0x32, 0xa0, 0xa4])(
    'reads and answers a position of type %i',
    (type) => {
      const frame = gt06Frame(type, Buffer.concat([GPS, CELL]), { serial: 0xabcd })
      expect(decode(frame)).toEqual({ fixes: [FIX], reply: gt06Frame(type, Buffer.alloc(0), { serial: 0xabcd }) })
    },
  )

  it('reads a southern position, an eastern one and one without a fix', () => {
    const position = { ...POSITION, latitude: -33.45, longitude: 151.2, heading: 359, fixed: false }
    expect(decode(gt06Frame(0x12, gt06Gps(position))).fixes).toEqual([
      { ...FIX, latitude: -33.45, longitude: 151.2, heading: 359, valid: false },
    ])
  })

  it('reads a position of a known type whatever its satellite byte is', () => {
    const place = Buffer.from(GPS)
    place[6] = 0x05
    expect(decode(gt06Frame(0x12, place)).fixes).toEqual([{ ...FIX, satellites: 5 }])
  })

  it.each([
    [0x22, bytes('0866703066502297')],
    [0x22, bytes('01 0866703066502297 1a0417143310')],
    [0x3a, bytes('0866703066502297')],
  ])('finds the position of type %i behind an id without a configured model', (type, before) => {
    expect(decode(gt06Frame(type, Buffer.concat([before, GPS]))).fixes).toEqual([FIX])
  })

  it.each([
    [0x34, bytes('39000000')],
    [0x61, bytes('0869412070143950')],
  ])('reads a position of type %i behind other fields', (type, before) => {
    expect(decode(gt06Frame(type, Buffer.concat([before, GPS]))).fixes).toEqual([FIX])
  })

  it.each([
    ['QH302R', 0x12, bytes('0866703066502297')],
    ['XT40', 0x25, bytes('01 0866703066502297 1a0b14061e10')],
  ])('reads a position of model %s behind its fields', (model, type, before) => {
    const frame = gt06Frame(type, Buffer.concat([before, GPS]))
    expect(decode(frame, { model }).fixes).toEqual([FIX])
  })

  it.each([
    [0x11, { none: 'cells' }],
    [0x17, { none: 'cells' }],
    [0xa2, { none: 'wifi' }],
    [0xa3, { none: 'heartbeat' }],
    [0xa4, { fixes: [] }],
    [0x77, {}],
  ])('tells a position of type %i from cells by the byte after the date', (type, other) => {
    const cells = Buffer.concat([gt06Date(POSITION.date), bytes('0106 02 1a2b 003c4d 30 8106 0002 1a2b 003c4d 28')])
    expect(decode(gt06Frame(type, GPS)).fixes).toEqual([FIX])
    expect(decode(gt06Frame(type, cells))).toEqual({ ...other, reply: gt06Frame(type, Buffer.alloc(0)) })
  })

  it('reads a position of a long frame, and does not answer it', () => {
    expect(decode(gt06Frame(0x38, GPS, { long: true }))).toEqual({ fixes: [FIX] })
  })

  it('reads a video alarm with or without its extension, and in the layout of other positions', () => {
    const [date, place, flags] = [gt06Date(POSITION.date), gt06Place(POSITION), gt06Flags(POSITION)]
    const plain = Buffer.concat([date, place, flags, bytes('01 0000 454e44')])
    const extended = Buffer.concat([bytes('ffff01'), date, Buffer.of(0xd9), place, flags, u(2, 54), bytes('008a92')])
    expect(decode(gt06Frame(0x95, plain)).fixes).toEqual([
      { ...FIX, speed: undefined, satellites: undefined, said: { alarms: ['sos'] } },
    ])
    expect(decode(gt06Frame(0x95, extended)).fixes).toEqual([{ ...FIX, said: { external_voltage: 13.8 } }])
    expect(decode(gt06Frame(0x95, GPS)).fixes).toEqual([FIX])
    expect(decode(gt06Frame(0x95, Buffer.concat([date, bytes('01')]))).fixes).toBeUndefined()
  })

  it.each([
    ['heartbeat', 0x13, bytes('44 06 04 0001')],
    ['heartbeat', 0x23, bytes('c0 0122 04 0001 0008')],
    ['command answer', 0x15, bytes('05 00000000 4f 0002')],
    ['cells', 0x28, Buffer.concat([gt06Date(POSITION.date), CELL, bytes('3e'), CELL])],
    ['no fix', 0x16, Buffer.concat([Buffer.alloc(6), GPS.subarray(6)])],
  ])('answers %s (type %i) without a fix', (none, type, content) => {
    expect(decode(gt06Frame(type, content, { serial: 3 }))).toMatchObject({
      none,
      reply: gt06Frame(type, Buffer.alloc(0), { serial: 3 }),
    })
  })

  it.each([
    [0x94, 'status'],
    [0x9b, 'serial data'],
    [0x8c, 'OBD'],
  ])('does not answer a long frame of type %i', (type, none) => {
    expect(decode(gt06Frame(type, bytes('0a00'), { long: true }))).toEqual({ none })
  })

  it.each([
    [
      'a position in another layout',
      gt06Frame(0x22, Buffer.concat([GPS.subarray(0, 6), bytes('02'), GPS.subarray(7)])),
    ],
    ['a position that is too short', gt06Frame(0x22, GPS.subarray(0, 17))],
    ['a position without a possible date', gt06Frame(0x12, Buffer.concat([bytes('1a2014061e0f'), GPS.subarray(6)]))],
    ['a position that is not on Earth', gt06Frame(0x16, gt06Gps({ ...POSITION, latitude: 91 }))],
    [
      'a long position in another layout',
      gt06Frame(0x32, Buffer.concat([gt06Date(POSITION.date), bytes('0102'), GPS.subarray(6)]), { long: true }),
    ],
  ])('reads no fix from %s, but reports that it may hold one', (_, frame) => {
    expect(decode(frame).fixes).toEqual([])
  })

  it.each([0x1f, 0x35, 0x66])('answers a frame of the unknown type %i, and reads nothing from it', (type) => {
    expect(decode(gt06Frame(type, bytes('0102030405060708')))).toEqual({ reply: gt06Frame(type, Buffer.alloc(0)) })
  })

  it.each([0x32, 0x33])(
    'reads a position or cells behind their lengths in a long frame of type %i, and answers it',
    (type) => {
      const [date, place] = [GPS.subarray(0, 6), GPS.subarray(6)]
      const read = (blocks: Buffer) => decode(gt06Frame(type, Buffer.concat([date, blocks]), { long: true }))
      const reply = gt06Frame(type, Buffer.alloc(0), { long: true })
      expect(read(Buffer.concat([bytes('0c'), place, bytes('09'), CELL]))).toEqual({ fixes: [FIX], reply })
      expect(read(Buffer.concat([bytes('00 09'), CELL]))).toEqual({ none: 'cells', reply })
      expect(read(Buffer.concat([bytes('0c'), place.subarray(0, -1)]))).toEqual({ fixes: [], reply })
    },
  )

  it('reads a position of zeros as an invalid fix if its type is 0x12, and as no fix if it is 0x17', () => {
    const nothing = Buffer.concat([gt06Date(POSITION.date), Buffer.alloc(12), CELL])
    const found = { time: FIX.time, latitude: -0, longitude: 0, satellites: 0, speed: 0, heading: 0, valid: false }
    expect(decode(gt06Frame(0x12, nothing)).fixes).toEqual([found])
    expect(decode(gt06Frame(0x17, nothing)).fixes).toBeUndefined()
  })

  it('answers a request for the time with the time', () => {
    expect(decode(gt06Frame(0x8a, Buffer.alloc(0), { serial: 6 })).reply).toEqual(
      gt06Frame(0x8a, gt06Date('261120120000'), { serial: 6 }),
    )
  })

  it('answers WiFi and cells of the Zhongxun family with their time', () => {
    const frame = bytes('787801 69 261120063015 0a0b0c0d0e0f 40 01 01cc00 287d1fb840 0d0a')
    expect(decode(frame)).toEqual({ none: 'wifi', reply: bytes('787800 69 261120063015 0d0a') })
  })

  it('reads a position of type 0x17 with a wrong length field if the session is lenient', () => {
    const frame = gt06Frame(0x17, Buffer.concat([GPS, CELL]))
    frame[2] += 2
    expect(gt06.decode(frame, newSession(true)).fixes).toEqual([FIX])
  })

  const HOUR = 3_600_000

  it.each([
    ['3200', 8 * HOUR],
    ['190a', -4 * HOUR],
    ['2120', 5.5 * HOUR],
    ['0000', 0],
    ['0604', 0],
    ['ffff', 0],
  ])('applies the time zone of a login for the rest of the session: %s is %i ms ahead of UTC', (zone, ahead) => {
    const session = newSession()
    gt06.decode(gt06Frame(0x01, bytes(`0${IMEI} 100b ${zone}`)), session)
    expect(gt06.decode(LOCATION, session).fixes?.[0].time).toBe(FIX.time - ahead)
    expect(gt06.decode(MODULES, session).fixes?.[0].time).toBe(FIX.time)
    expect(gt06.decode(LOCATION, newSession()).fixes?.[0].time).toBe(FIX.time)
  })

  it.each([false, true])('takes UTC after a login without a time zone (lenient: %s)', (lenient) => {
    const session = newSession(lenient)
    gt06.decode(gt06Frame(0x01, bytes(`0${IMEI} 100b 3200`)), session)
    gt06.decode(gt06Frame(0x01, bytes(`0${IMEI}`), { serial: 0x3200 }), session)
    expect(gt06.decode(LOCATION, session).fixes?.[0].time).toBe(FIX.time)
  })

  it('prefers a configured time zone to the one of the login', () => {
    const session = newSession()
    gt06.decode(gt06Frame(0x01, bytes(`0${IMEI} 100b 3200`)), session)
    session.settingsOf = () => ({ timeZone: '+08:00' })
    expect(gt06.decode(LOCATION, session).fixes?.[0].time).toBe(FIX.time)
  })

  it('refuses a frame with any covered byte damaged, unless the session is lenient', () => {
    for (let at = 2; at < LOCATION.length - 2; at++) {
      expect(
        reasonOf(() => decode(flipped(LOCATION, at * 8))),
        `byte ${at}`,
      ).toBe('checksum')
    }
    expect(gt06.decode(flipped(LOCATION, (LOCATION.length - 4) * 8), newSession(true)).fixes).toEqual([
      { ...FIX, said: { ignition: true } },
    ])
  })

  it.each([
    ['a login', LOGIN],
    ['a location', LOCATION],
    ['a long frame', gt06Frame(0x38, GPS, { long: true })],
  ])('refuses %s cut short at any byte, and survives any flipped bit', (_, frame) => {
    for (let end = 1; end < frame.length; end++) {
      expect(
        reasonOf(() => decode(frame.subarray(0, end))),
        `${end} bytes`,
      ).toBeDefined()
    }
    within(60_000, () => decodesRough(gt06, frame, frame.length * 8))
  })

  it('cuts a stream into the same frames wherever its parts end', () => {
    const { frame } = gt06.tcp
    const frames = [LOGIN, LOCATION, gt06Frame(0x38, GPS, { long: true }), gt06Frame(0x13, bytes('0d0a040001'))]
    const stream = Buffer.concat(frames)
    framesRough(frame, stream)
    const expected = [...frames.map((each) => each.toString('hex')), 'left over: ']
    for (let cut = 0; cut < stream.length; cut++) expect(framesOfParts(frame, stream, cut)).toEqual(expected)
  })

  it('skips bytes that begin no frame', () => {
    expect(framesOfParts(gt06.tcp.frame, Buffer.concat([bytes('000d0a7800790d0a'), LOGIN]), 0)).toEqual([
      LOGIN.toString('hex'),
      'left over: ',
    ])
  })

  it('cuts a frame at its end mark if its length field is too small', () => {
    const frame = Buffer.from(LOCATION)
    frame[2] -= 2
    expect(framesOfParts(gt06.tcp.frame, Buffer.concat([frame, LOGIN]), 0)).toEqual([
      frame.toString('hex'),
      LOGIN.toString('hex'),
      'left over: ',
    ])
  })

  it.each([
    ['78781101', 'yes'],
    ['78780d01035634', 'yes'],
    ['7878', 'maybe'],
    ['', 'maybe'],
    ['78781122', 'no'],
    ['000f3335', 'no'],
  ])('answers whether a stream that begins with %s may be GT06: %s', (start, match) => {
    expect(gt06.tcp.starts(bytes(start))).toBe(match)
  })
})

function decode(frame: Buffer, settings: Settings = {}) {
  return gt06.decode(frame, { ...newSession(), settingsOf: () => settings })
}
