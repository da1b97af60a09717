import { expect, it } from 'vitest'
import { type Draft, drawn, type Fields, GGA, GLL, knots, RMC } from '../../protocols/kit/index.ts'
import { newSession, reasonOf } from '../support/rough.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')

/** Returns what a pattern reads from a text. */
function read(pattern: string, text: string, fields?: Fields): Draft | undefined {
  return drawn(pattern, { fields }).match(text, newSession())
}

function fixOf(pattern: string, text: string) {
  return read(pattern, text)?.fix(newSession())
}

const valid = (pattern: string, text: string) => read(pattern, text)?.valid
const speed = (field: string, text: string) => read(`{${field}}`, text)?.speed
const near = (pattern: string, text: string) => read(pattern, text)?.timeBy(NOW)

it('a pattern consists of literal text, fields, and nested optional parts', () => {
  const pattern = drawn('*A,{id}[,{course}[,{altitude}]]#')
  const drafts = ['*A,x#', '*A,x,1#', '*A,x,1,2#'].map((text) => pattern.match(text, newSession()))
  expect(drafts.map((draft) => [draft?.device, draft?.heading, draft?.altitude])).toEqual([
    ['x', undefined, undefined],
    ['x', 1, undefined],
    ['x', 1, 2],
  ])
  expect(pattern.prefix).toBe('*A,')
})

it('a pattern matches only a whole text', () => {
  expect(['*A,1', '*A,1#x', 'x*A,1#', '*A,1#'].map((text) => read('*A,{id}#', text)?.device)).toEqual([
    undefined,
    undefined,
    undefined,
    '1',
  ])
})

it('a backslash in a pattern makes a brace, a bracket or a backslash literal', () => {
  expect(read('\\{\\[{id}\\]\\}\\\\', '{[7]}\\')?.device).toBe('7')
})

it('a pattern takes characters that are special in regular expressions literally', () => {
  expect(read('^$.*+?()|/{id},', '^$.*+?()|/7,')?.device).toBe('7')
})

it('{any} ends before the first character of the text behind it; {any:3} skips three fields with their separators', () => {
  expect(read('{any},{id}', 'a,b,c')?.device).toBe('b,c')
  expect(read('{any:3},{id}', 'a,b,c,d')?.device).toBe('d')
  expect(read('{any:3},{id}', 'a,b,c')).toBeUndefined()
  expect(read('{any}[;{id}]', 'a,b;c')?.device).toBe('c')
})

it('a pattern can define fields of its own, and replace the form of a field of the kit', () => {
  const fields: Fields = {
    type: { like: 'V\\d|W' },
    tenths: { like: '\\d+', read: (text, draft) => void (draft.altitude = +text / 10) },
    id: { like: 'x+' },
  }
  const draft = read('{type},{id}{tenths}', 'V1,xx55', fields)
  expect([draft?.text('type'), draft?.device, draft?.altitude]).toEqual(['V1', 'xx', 5.5])
  expect(read('{type},{id}{tenths}', 'W2,xx55', fields)).toBeUndefined()
})

it('a pattern can name a text that stands for an unknown value', () => {
  const pattern = drawn('{course};{ns};{dmy};{altitude}', { absent: 'NA' })
  expect(pattern.match('NA;NA;NA;5', newSession())).toMatchObject({ heading: undefined, day: undefined, altitude: 5 })
})

it.each([
  ['{latitude}', '{latitude} is no field'],
  ['{constructor}', '{constructor} is no field'],
  ['{}', '{} is no field'],
  ['{id:3}', '{id} has no width'],
  ['{dmy/10}', '{dmy} has no divisor'],
  ['a]', '"]"'],
  ['[a', '"[" is not closed'],
  ['{id', '"{"'],
  ['id}', '"}"'],
])('refuses to load the pattern %s: %s', (pattern, message) => {
  expect(() => drawn(pattern)).toThrow(message)
})

it.each(['{lat}{lon}', '{course}{hhmmss}', '{hms}{hms}', '{unix}{speedKmh}', '{lat}[{lon}]', '{course}[;]{altitude}'])(
  'refuses to load the pattern %s, because the end of its first field is ambiguous',
  (pattern) => expect(() => drawn(pattern)).toThrow('it may take what begins the text behind it'),
)

it.each(['{any}{lat}', '{id}{any}', '{any}[{lat}]'])(
  'refuses to load the pattern %s, because literal text must follow its first field',
  (pattern) => {
    expect(() => drawn(pattern)).toThrow('literal text must follow')
  },
)

it('refuses to load a pattern with too many combinations of optional parts', () => {
  expect(() => drawn('[,{id}]'.repeat(8))).toThrow('ways')
  expect(drawn(`${'[,{id}'.repeat(7)}${']'.repeat(7)}`).prefix).toBe('')
})

it.each(['(a)', 'a**', '[a', '^a', 'a$', 'a+?', '\\b', 'a+a', 'a*a*'])(
  'refuses to load a pattern with the field form %s',
  (like) => {
    expect(() => drawn('<{own}>', { fields: { own: { like } } })).toThrow('{own}')
  },
)

// Hostile texts make each field of a pattern as long as possible.

const patterns = [
  `$GPRMC,${RMC}{any}`,
  `$GPGGA,${GGA},{any}`,
  '{id}[,{lat}[,{lon}[,{course}[,{altitude}]]]]#',
  '[{any},[{any},[{any},[{any},]]]]{hms},{course}#',
  '{any},{any}[,{any}][,{any}]#',
  '{records};{own}#',
]
const fields: Fields = { own: { like: 'a*b+|[^#x]+' } }

it.each(patterns)('matches a hostile text in linear time: %s', (pattern) => {
  const { match } = drawn(pattern, { fields })
  const cost = (size: number) => {
    const hostile = ['1', ',', ' ', ',1', 'a', '1.', '$GPRMC,', '[,', ';'].map((text) =>
      text.repeat(size / text.length),
    )
    const begins = hostile.map((text) => `$GPRMC,${text}`)
    return Math.min(...[1, 2, 3].map(() => cpuOf(() => [...hostile, ...begins].map((text) => tried(match, text)))))
  }
  cost(65_536)
  // Eight times the length: a quadratic pattern takes 64 times as long. On a busy machine a run may take some times longer.
  let ratio = Number.POSITIVE_INFINITY
  for (let run = 0; run < 5 && ratio >= 24; run++) ratio = Math.min(ratio, cost(1 << 20) / cost(1 << 17))
  expect(ratio).toBeLessThan(24)
})

function tried(match: (text: string, session: ReturnType<typeof newSession>) => unknown, text: string): unknown {
  return reasonOf(() => match(text, newSession()))
}

/** Returns the CPU time of `work` in ms. */
function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

it.each([
  ['{lat},{lon}', '-33.5,+070.25'],
  ['{lat}{ns},{lon}{ew}', '33.5S,070.25E'],
  ['{ns}{lat},{ew}{lon}', 's33.5,e070.25'],
  ['{latNmea},{ns},{lonNmea},{ew}', '3330.0000,S,07015.0000,E'],
  ['{latNmea}{ns}{lonNmea}{ew}', ' 3330.0S7015.0E'],
  ['{latNmea},{lonNmea}', '-3330.0,7015'],
  ['{lat/1e6},{lon/1e6}', '-33500000,70250000'],
  ['{lat:9/1e6}{lon:9/1e6}', '-33500000+70250000'],
  ['{latNmea:8/1e4}{ns}{lonNmea:9/1e4}{ew}', '33300000S070150000E'],
  ['{lat}+{lon}+{any}', '-33.5+70.25+'],
  ['{lat} {lon}', '-33.5 +70.25'],
  ['{latDeg} {latMin}{ns} {lonDeg} {lonMin}{ew}', '33 30.0S 070 15.0E'],
  ['{latDeg} {latMin} {latSec},{lonDeg} {lonMin} {lonSec}', '-33 29 60,70 14 60'],
])('reads a place by the pattern %s: %s', (pattern, text) => {
  expect(fixOf(pattern, text)).toMatchObject({
    latitude: expect.closeTo(-33.5, 9),
    longitude: expect.closeTo(70.25, 9),
  })
})

it('reads minus zero degrees as south of the equator', () => {
  expect(fixOf('{latDeg}-{latMin},{lon}', '-0-30,0')?.latitude).toBe(-0.5)
})

it('makes no fix if a latitude or a longitude is empty', () => {
  expect(fixOf('{lat},{lon}', ',7')).toBeUndefined()
  expect(fixOf('{lat},{lon}', '7,  ')).toBeUndefined()
})

const TIME = Date.parse('2024-05-01T10:15:30Z')

it.each([
  ['{ymd}{hhmmss}', '240501101530'],
  ['{dmy},{hms}', '010524,101530'],
  ['{yyyymmdd}{hms}', '20240501101530.000'],
  ['{ddmmyyyy},{hms}', '01052024,101530'],
  ['{yyyy}-{month}-{day} {hour}:{minute}:{second}', '2024-05-01 10:15:30'],
  ['{day}/{month}/{yy} {hour}:{minute}:{second}', '1/5/24 10:15:30'],
  ['{yy}{month}{day}{hour}{minute}{second}', '240501101530'],
  ['{unix}', '1714558530'],
  ['{unix}', '1714558530000'],
])('reads a time by the pattern %s: %s', (pattern, text) => {
  expect(near(pattern, text)).toBe(TIME)
})

it('reads fractions of a second, and a time without seconds', () => {
  expect(near('{dmy},{hms}', '010524,101530.25')).toBe(TIME + 250)
  expect(near('{dmy},{hhmm}', '010524,1015')).toBe(TIME - 30_000)
})

it('takes a time of day near the arrival, a date alone as midnight or now, and an empty time as now', () => {
  expect(near('{hms}', '235959')).toBe(Date.parse('2026-11-20T23:59:59Z'))
  expect(read('{hms}', '235959')?.timeBy(NOW - 50_000)).toBe(Date.parse('2026-11-19T23:59:59Z'))
  expect([near('{ymd}', '240501'), near('{ymd}', '261120'), near('{hms}', '')]).toEqual([
    Date.parse('2024-05-01T00:00:00Z'),
    NOW,
    NOW,
  ])
})

it('takes the latest year for a date without a year, up to a day after the arrival', () => {
  expect(near('{month}-{day} {hms}', '12-31 101530')).toBe(Date.parse('2025-12-31T10:15:30Z'))
  expect(near('{month}-{day} {hms}', '11-21 101530')).toBe(Date.parse('2026-11-21T10:15:30Z'))
  expect(near('{month}-{day} {hms}', '01-01 101530')).toBe(Date.parse('2026-01-01T10:15:30Z'))
})

it('refuses an impossible date or time, and reads a date of zeros as a clock that was never set', () => {
  for (const [date, time] of [
    ['311324', '101530'],
    ['300224', '101530'],
    ['010524', '241530'],
    ['010524', '106030'],
    ['010524', '1015309'],
  ])
    expect(
      reasonOf(() => fixOf('{dmy},{hms},{lat},{lon}', `${date},${time},1,1`)),
      `${date} ${time}`,
    ).toBe('malformed')
  expect(read('{dmy},{lat},{lon}', '000000,1,1')).toMatchObject({ hasNoClock: true, isPlaced: false })
})

it('converts speeds to metres per second, and leaves out a negative or empty one', () => {
  expect([speed('speedKmh', '36'), speed('speedMs', '  3.34'), speed('speedMph', '+100')]).toEqual([10, 3.34, 44.704])
  expect([speed('speedKnots', '3600'), speed('speedKmh', '-1'), speed('speedKmh', '')]).toEqual([
    1852,
    undefined,
    undefined,
  ])
})

it('reads numbers with a sign, a fraction, a fixed width and a divisor, and refuses malformed ones', () => {
  const draft = read('{course:5}{altitude:4}{hdop/10},{satellites},{accuracy}', ' 87.3-046015,7,12')
  expect(draft).toMatchObject({ heading: 87.3, altitude: -46, hdop: 1.5, satellites: 7, accuracy: 12 })
  expect(read('{lat}', '1.2.3')?.fault?.code).toBe('malformed')
  expect(reasonOf(() => fixOf('{lat},{lon}', `${'9'.repeat(400)},1`))).toBe('malformed')
  expect(read('{course}', '1x')).toBeUndefined()
})

it('leaves out a speed that is no number, and matches no latitude that is none', () => {
  for (const bad of ['NaN', 'nan', 'NA', 'null', '-', '.', '1.2.3', '9'.repeat(400)])
    expect(read('{speedKmh},{course}', `${bad},90`), bad).toMatchObject({ speed: undefined, heading: 90 })
  expect(read('{lat},{course}', 'NaN,90')).toBeUndefined()
})

it('accepts any text as a voltage or battery level, and leaves out what is no number', () => {
  for (const field of ['{externalVolts}', '{batteryVolts/1000}', '{batteryPercent}']) {
    for (const bad of ['12.6V', '--', 'low', 'NaN', ''])
      expect(read(`${field},{course}`, `${bad},90`), bad).toMatchObject({ beside: {}, heading: 90 })
    expect(read(field, 'low')).toBeUndefined()
  }
  expect(read('{batteryPercent}%[,{externalVolts}[,{any}]]', '80%,12.6')?.beside).toEqual({
    battery_percent: 80,
    external_voltage: 12.6,
  })
})

it('leaves out an HDOP of 0 and a course above 360', () => {
  expect(read('{hdop},{course}', '0.0,999')).toMatchObject({ hdop: undefined, heading: undefined })
})

it('reads the validity of a position: valid without such a field, invalid if the field is empty', () => {
  expect(['A', 'V', '1', '0', 'L', 'a', 'v'].map((text) => valid('{valid}', text))).toEqual([
    true,
    false,
    true,
    false,
    false,
    true,
    false,
  ])
  expect([valid('[{valid}],', ','), valid('{quality}', '2'), valid('{quality}', '0'), valid('x', 'x')]).toEqual([
    false,
    true,
    false,
    true,
  ])
})

it('reads an IMEI and a secret', () => {
  expect(read('{imei}:{secret},', '356307042441013:pass,')).toMatchObject({
    device: '356307042441013',
    secret: 'pass',
  })
  expect(read('{imei},', '3563,')).toBeUndefined()
})

const PLACE = { latitude: expect.closeTo(48.1173, 9), longitude: expect.closeTo(-11.516666667, 8) }

it('reads an RMC sentence', () => {
  expect(
    fixOf(`$GPRMC,${RMC},{any}`, '$GPRMC,123519.5,A,4807.038,N,01131.000,W,022.4,084.4,230324,003.1,W*6A'),
  ).toEqual({
    ...PLACE,
    time: Date.parse('2024-03-23T12:35:19.500Z'),
    valid: true,
    speed: knots(22.4),
    heading: 84.4,
  })
})

it('reads a GGA sentence', () => {
  expect(fixOf(`$GPGGA,${GGA},{any}`, '$GPGGA,103519,4807.038,N,01131.000,W,1,08,0.9,545.4,M,46.9,M,,*47')).toEqual({
    ...PLACE,
    time: Date.parse('2026-11-20T10:35:19Z'),
    valid: true,
    altitude: 545.4,
    hdop: 0.9,
    satellites: 8,
  })
})

it('reads a GLL sentence', () => {
  expect(fixOf(`$GPGLL,${GLL}{any}`, '$GPGLL,4807.038,N,01131.000,W,103519,V*47')).toEqual({
    ...PLACE,
    time: Date.parse('2026-11-20T10:35:19Z'),
    valid: false,
  })
})
