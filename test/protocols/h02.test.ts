import { expect, it } from 'vitest'
import { frameLength, starts } from '../../protocols/h02/framing.ts'
import h02 from '../../protocols/h02/index.ts'
import { cut, DecodeError, knots, type Message } from '../../protocols/kit/index.ts'
import { newSession } from '../support/rough.ts'

const V1 = '*HQ,8800000001,V1,101530,A,5231.5000,N,01324.6000,E,012.50,270,010524,FFFFFBFF,262,1,0,0,6#'

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')

/** 52° 31.5′ N, 13° 24.6′ E, 12 kn, 270°, 2024-05-01 10:15:30, valid. */
const SHORT = bytes('24 8800000001 101530 010524 52315000 06 013246000e 012270 fffffbff ff 0000')
const BETWEEN = bytes('24 8800000001 101530 010524 52315000 06 013246000e 012270 fffffbff 0b 0007 0000 0017 99')
const LONG = bytes(
  '24 8800000001 101530 010524 52315000 06 013246000e 012270 fffffbff ff 001f 08 000000000102030405060708',
)
const LONG_ID = bytes(
  '24 8612340000000010 101530 010524 33521000 06 0704123402 000000 fffffbff ff 0112 0064 ba73 005e cc',
)

/** Degrees, apart from rounding errors of minutes. */
const near = (degrees: number): number => expect.closeTo(degrees, 9)

function decode(frame: string | Buffer, session = newSession()): Message {
  return h02.decode(typeof frame === 'string' ? Buffer.from(frame) : frame, session)
}

function reasonOf(frame: string | Buffer): string | undefined {
  try {
    decode(frame)
  } catch (error) {
    if (error instanceof DecodeError) return error.code
    throw error
  }
  return undefined
}

/** Returns why a short frame with one changed byte is refused. */
function reasonWith(at: number, value: number): string | undefined {
  const frame = Buffer.from(SHORT)
  frame[at] = value
  return reasonOf(frame)
}

const hex = (frames: readonly Buffer[]) => frames.map((frame) => frame.toString('hex'))

it('reads a V1 line as a position, and confirms it with the time of its arrival', () => {
  const { device, fixes, reply } = decode(V1)
  expect(device).toBe('8800000001')
  expect(fixes).toEqual([
    {
      time: Date.UTC(2024, 4, 1, 10, 15, 30),
      latitude: near(52.525),
      longitude: near(13.41),
      valid: true,
      speed: knots(12.5),
      heading: 270,
      said: { ignition: false },
    },
  ])
  expect(reply?.toString()).toBe('*HQ,8800000001,V4,V1,20261120120000#')
})

it('reads south and west as negative, V as invalid, and 360° as 0°', () => {
  const [fix] = decode('*HQ,88,V1,101530,V,3352.1000,S,07041.2000,W,0,360,010524,FFFFFBFF#').fixes ?? []
  expect(fix).toMatchObject({
    latitude: near(-(33 + 52.1 / 60)),
    longitude: near(-(70 + 41.2 / 60)),
    valid: false,
    heading: 0,
  })
})

it('reads angles without a decimal point, and with minus signs as separators', () => {
  const [pointless] = decode('*HQ,88,V1,101530,A,33521000,S,070412000,W,0,0,010524,FFFFFBFF#').fixes ?? []
  expect([pointless.latitude, pointless.longitude]).toEqual([near(-(33 + 52.1 / 60)), near(-(70 + 41.2 / 60))])
  const [signed] = decode('*HQ,88,V1,101530,A,-33-52.1000,S,-70-41.2000,W,0,0,010524,FFFFFBFF#').fixes ?? []
  expect([signed.latitude, signed.longitude]).toEqual([near(-(33 + 52.1 / 60)), near(-(70 + 41.2 / 60))])
})

it('confirms other positions with R12', () => {
  expect(decode(V1.replace('V1', 'V6')).reply?.toString()).toBe('*HQ,8800000001,R12,120000#')
})

it('reads the position behind the parameters of a command answer', () => {
  const { fixes } = decode('*TH,88,V4,S17,30,OK,130305,050316,A,2230.0000,N,11330.0000,E,10.00,090,220902,FFFFFBFF#')
  expect(fixes).toMatchObject([
    { time: Date.UTC(2002, 8, 22, 5, 3, 16), latitude: 22.5, longitude: 113.5, heading: 90 },
  ])
})

it('skips an extra field between course and date', () => {
  const { fixes } = decode('*HQ,88,V1,101530,A,5231.5000,N,01324.6000,E,0.5,047,4,010524,FFFFFBFF#')
  expect(fixes).toMatchObject([{ time: Date.UTC(2024, 4, 1, 10, 15, 30), heading: 47 }])
})

it('takes the arrival time if a position has no date, and makes it invalid if its validity is empty', () => {
  const session = newSession()
  const { fixes } = decode('*HQ,88,V1,,,5231.5000,N,01324.6000,E,0.00,0,,FFFFFBFF#', session)
  expect(fixes).toMatchObject([{ time: session.now, valid: false }])
})

it('takes a date without a time as the start of that day, or as now if it is today', () => {
  const session = newSession()
  const vp1 = (date: string) => decode(`*hq,88,VP1,A,5231.5000,N,01324.6000,E,0.48,0.0000,${date}#`, session)
  expect(vp1('010524')).toMatchObject({ fixes: [{ time: Date.UTC(2024, 4, 1) }], reply: undefined })
  expect(vp1('201126').fixes?.[0].time).toBe(session.now)
})

it('answers heartbeats and cells, but not LINK and SMS lines', () => {
  const replies = [
    'HTBT,98',
    'NBR,101530,262,1,0,1,100,200,50,010524,FFFFFBFF',
    'LINK,101530,15,0,84,0,0,010524,FF',
    'SMS,hello',
  ].map((rest) => decode(`*HQ,88,${rest}#`))
  expect(replies.map(({ reply }) => reply?.toString())).toEqual([
    '*HQ,88,HTBT#',
    '*HQ,88,V4,NBR,20261120120000#',
    undefined,
    undefined,
  ])
  expect(replies.map(({ fixes }) => fixes)).toEqual([undefined, undefined, undefined, undefined])
})

it('names the device of a line without a place or with a clock that was never set', () => {
  const OFF = { ignition: false }
  expect(decode('*HQ,88,V1,,V,,N,,E,0.00,0,,FFFFFBFF#')).toEqual({
    device: '88',
    none: 'no place',
    said: OFF,
  })
  expect(decode('*HQ,88,V1,000000,V,0.0000,N,0.0000,E,0.00,0,000000,FFFFFBFF#')).toEqual({
    device: '88',
    none: 'no date',
    said: OFF,
  })
  expect(decode('*HQ,88,#')).toEqual({ device: '88', none: 'heartbeat' })
})

it('accepts blanks in front of a number', () => {
  const [fix] = decode(V1.replace('012.50', '  3.34')).fixes ?? []
  expect(fix.speed).toBeCloseTo((3.34 * 1852) / 3600, 9)
})

it('takes the device of the connection for a line without an id', () => {
  const { device, fixes, reply } = decode(V1.replace('8800000001', ''), { ...newSession(), device: '42' })
  expect([device, fixes?.length, reply?.toString()]).toEqual([undefined, 1, '*HQ,42,V4,V1,20261120120000#'])
})

it('reports a possible fix in a malformed position, but none in a line of an unknown type', () => {
  for (const [good, bad] of [
    ['5231.5000', '52A1.5000'],
    ['012.50', '1-1'],
    ['101530', '10153'],
  ])
    expect(decode(V1.replace(good, bad)), bad).toEqual({ device: '8800000001', fixes: [] })
  expect(decode('*HQ,88,NEW,1#')).toEqual({ device: '88' })
})

it('refuses damaged text', () => {
  expect(reasonOf(V1.slice(0, 60))).toBe('unsupported')
  expect(reasonOf(V1.replace('5231.5000', '5231.5.00'))).toBe('malformed')
  expect(reasonOf(V1.replace('5231.5000', '9'.repeat(400)))).toBe('malformed')
  expect(reasonOf(V1.replace('010524', '311324'))).toBe('malformed')
  expect(reasonOf('')).toBe('truncated')
  expect(reasonOf('GET / HTTP/1.1')).toBe('unsupported')
})

it('reads a message of thousands of commas as a text message', () => {
  expect(decode(`*HQ,88,SMS,${','.repeat(10_000)}N,1,E#`)).toEqual({ device: '88', none: 'text' })
})

it('reads a short binary frame as a position, and confirms it with R12', () => {
  const { device, fixes, reply } = decode(SHORT)
  expect(device).toBe('8800000001')
  expect(fixes).toEqual([
    {
      time: Date.UTC(2024, 4, 1, 10, 15, 30),
      latitude: near(52.525),
      longitude: near(13.41),
      valid: true,
      speed: knots(12),
      heading: 270,
      said: { ignition: false, battery_percent: 100 },
    },
  ])
  expect(reply?.toString()).toBe('*HQ,8800000001,R12,120000#')
})

it('reads an id of 8 bytes as 15 digits, and cleared direction bits as south and west', () => {
  expect(decode(LONG_ID)).toMatchObject({
    device: '861234000000001',
    fixes: [{ latitude: near(-(33 + 52.1 / 60)), longitude: near(-(70 + 41.234 / 60)), valid: true }],
  })
})

it('recognises an id of 8 bytes even if its end looks like a time', () => {
  const frame = Buffer.from(LONG_ID)
  bytes('101010 101010').copy(frame, 6)
  bytes('3352 9999').copy(frame, 15)
  expect(decode(frame)).toMatchObject({
    device: '861234000010101',
    fixes: [{ time: Date.UTC(2024, 4, 1, 10, 10, 10) }],
  })
})

it('takes the device of the connection, if there is one, for a frame that begins with X', () => {
  const x = Buffer.from(SHORT)
  x[0] = 0x58
  expect(decode(x).device).toBe('8800000001')
  expect(decode(x, { ...newSession(), device: '42' })).toMatchObject({
    device: '42',
    fixes: [{ latitude: near(52.525) }],
  })
})

it('makes no fix of a binary frame whose clock was never set, and answers it', () => {
  const frame = Buffer.from(SHORT)
  frame.fill(0, 6, 12)
  const reply = Buffer.from('*HQ,8800000001,R12,120000#')
  expect(decode(frame)).toEqual({ device: '8800000001', none: 'no date', reply })
})

it('refuses a damaged binary frame', () => {
  expect(reasonWith(6, 0x24)).toBe('malformed')
  expect(reasonWith(9, 0)).toBe('malformed')
  expect(reasonWith(12, 0x5a)).toBe('malformed')
  expect(reasonWith(17, 0xa0)).toBe('malformed')
  for (const end of [1, 11, 20, 28 - 4]) expect(reasonOf(SHORT.subarray(0, end))).toBe('truncated')
})

const frame = frameLength

it('cuts text and binary frames of all lengths out of one stream', () => {
  const frames = [Buffer.from(V1), SHORT, SHORT, Buffer.from(V1), LONG, LONG, SHORT, Buffer.from(V1)]
  const { frames: found, rest, noise } = cut(Buffer.concat(frames), frame, newSession())
  expect(hex(found)).toEqual(hex(frames))
  expect([rest.length, noise]).toEqual([0, 0])
  expect(hex(cut(Buffer.concat([LONG_ID, LONG_ID]), frame, newSession()).frames)).toEqual(hex([LONG_ID, LONG_ID]))
})

it('takes a short frame as whole if nothing follows it, and waits if it may begin a long one', () => {
  expect(frame(SHORT)).toBe(32)
  expect(frame(LONG.subarray(0, 32))).toBe(0)
  expect(frame(LONG)).toBe(45)
})

it('skips noise up to the next possible start of a frame', () => {
  const text = Buffer.from(`\r\n\r\n${V1}\r\nGET /$$$ `)
  const { frames, rest, noise } = cut(Buffer.concat([text, Buffer.alloc(40, 0xff), SHORT]), frame, newSession())
  expect(hex(frames)).toEqual(hex([Buffer.from(V1), SHORT]))
  expect([rest.length, noise]).toEqual([0, text.length + 40 - V1.length])
})

it('finds the frames behind one that is longer than known, whose last byte is a star', () => {
  const stream = Buffer.concat([LONG, bytes('04 2a'), LONG, LONG])
  const { frames, rest } = cut(stream, frame, newSession())
  expect(hex(frames)).toEqual(hex([LONG, LONG, LONG]))
  expect(rest.length).toBe(0)
})

it('recognises its streams by their first bytes', () => {
  expect(['', '*', '*H', '*HQ', '*HQ,'].map((begin) => starts(Buffer.from(begin)))).toEqual([
    'maybe',
    'maybe',
    'maybe',
    'maybe',
    'yes',
  ])
  expect([SHORT.subarray(0, 8), SHORT, LONG_ID].map(starts)).toEqual(['maybe', 'yes', 'yes'])
  expect(['**,imei', '#L#', '$$', '$GPRMC,101530.000,A'].map((begin) => starts(Buffer.from(begin)))).toEqual([
    'no',
    'no',
    'maybe',
    'no',
  ])
})

it('cuts a frame of another length where a text or a frame of the same id begins', () => {
  const frames = [BETWEEN, BETWEEN, Buffer.from(V1), BETWEEN, Buffer.from(V1), LONG]
  const { frames: found, rest, noise } = cut(Buffer.concat(frames), frame, newSession())
  expect(hex(found)).toEqual(hex(frames))
  expect([rest.length, noise]).toEqual([0, 0])
  expect(frame(Buffer.concat([BETWEEN, SHORT.subarray(0, 5)]))).toBe(0)
  expect(decode(BETWEEN).fixes).toEqual(decode(SHORT).fixes)
})
