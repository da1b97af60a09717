import { describe, expect, it } from 'vitest'
import fix from '../../protocols/fix/index.ts'
import { DecodeError, type Message } from '../../protocols/kit/index.ts'

const ENTRY = {
  lat: 52.525,
  lon: 13.41,
  timestamp: 1714558530,
  accuracy: 5,
  speed: 10,
  heading: 270,
  altitude: 34,
  hdop: 0.9,
  satellites: 9,
  valid: true,
}
const FIX = {
  time: Date.UTC(2024, 4, 1, 10, 15, 30),
  latitude: 52.525,
  longitude: 13.41,
  valid: true,
  altitude: 34,
  speed: 10,
  heading: 270,
  accuracy: 5,
  hdop: 0.9,
  satellites: 9,
}

function decode(payload: unknown): Message {
  return fix.decode(Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)))
}

function reasonOf(payload: unknown): string | undefined {
  try {
    decode(payload)
  } catch (error) {
    if (error instanceof DecodeError) return error.message
    throw error
  }
  return undefined
}

describe('an object', () => {
  it('is one fix', () => {
    expect(decode(ENTRY)).toEqual({ fixes: [FIX] })
  })

  it('needs place and time only', () => {
    expect(decode({ lat: -1.5, lon: 2, timestamp: 0 })).toEqual({
      fixes: [{ time: 0, latitude: -1.5, longitude: 2, valid: true }],
    })
  })

  it.each([
    [1714558530.25, 250],
    [1714558530250, 250],
    ['2024-05-01T10:15:30Z', 0],
    ['2024-05-01T12:15:30.25+02:00', 250],
  ])('timestamp %j', (timestamp, ms) => {
    expect(decode({ ...ENTRY, timestamp }).fixes?.[0].time).toBe(FIX.time + ms)
  })

  it('null is absent, −1 not known, 360° is 0°', () => {
    const { fixes } = decode({
      ...ENTRY,
      accuracy: null,
      speed: -1,
      heading: 360,
      hdop: -1,
      altitude: null,
      valid: null,
    })
    expect(fixes).toEqual([
      { time: FIX.time, latitude: 52.525, longitude: 13.41, valid: true, heading: 0, satellites: 9 },
    ])
  })

  it('may be invalid or have a latitude beyond 90: the decoder keeps both, and the gateway filters them', () => {
    expect(decode({ ...ENTRY, valid: false, lat: 91 }).fixes).toEqual([{ ...FIX, valid: false, latitude: 91 }])
  })
})

describe('an array', () => {
  it('is many fixes, or none', () => {
    expect(decode([ENTRY, { ...ENTRY, timestamp: 1714558531 }]).fixes).toEqual([FIX, { ...FIX, time: FIX.time + 1000 }])
    expect(decode([])).toEqual({ none: 'nothing' })
  })

  it('its good entries count, the others are counted; without a good one it is refused for the first', () => {
    expect(decode([{ ...ENTRY, lat: 'x' }, ENTRY, 7])).toEqual({ fixes: [FIX], unreadable: [0, 2] })
    expect(reasonOf([{ ...ENTRY, lat: 'x' }, 7])).toBe('the frame is malformed: lat is a string, not a number')
  })
})

it('is as good without measurements that are no numbers', () => {
  const bad =
    '{"lat":1,"lon":2,"timestamp":3,"speed":"fast","altitude":NaN,"accuracy":-Infinity,"hdop":{},"heading":"\\"NaN"}'
  expect(decode(bad).fixes).toEqual([{ time: 3000, latitude: 1, longitude: 2, valid: true }])
})

it.each([
  ['', 'it is not JSON'],
  ['{"lat":NaN,"lon":2,"timestamp":3}', 'lat is missing'],
  ['{"lat":"NaN,"lon":2,"timestamp":3}', 'it is not JSON'],
  ['{"lat":1e999,"lon":2,"timestamp":3}', 'lat is not finite'],
  ['{"lat":1,"lon":2,"timestamp":1e999}', 'the timestamp is not a finite number'],
  ['7', 'a fix is not an object'],
  ['[[]]', 'a fix is not an object'],
  [{ ...ENTRY, lat: undefined }, 'lat is missing'],
  [{ ...ENTRY, lon: null }, 'lon is missing'],
  [{ ...ENTRY, lon: '13.41' }, 'lon is a string, not a number'],
  [{ ...ENTRY, timestamp: undefined }, 'timestamp is missing'],
  [{ ...ENTRY, timestamp: true }, 'timestamp is neither a number nor text'],
  [{ ...ENTRY, timestamp: 'today' }, '"today" is not an RFC 3339 time'],
  [{ ...ENTRY, timestamp: '2024-13-01T00:00:00Z' }, '"2024-13-01T00:00:00Z" is not a time of the calendar'],
  [{ ...ENTRY, valid: 'yes' }, 'valid is a string, not true or false'],
])('%j is refused', (payload, why) => {
  expect(reasonOf(payload)).toBe(`the frame is malformed: ${why}`)
})
