import { expect, it } from 'vitest'
import fix from '../../protocols/fix/index.ts'
import { refusalOf } from '../support/rough.ts'

const ENTRY = { lat: 52.525, lon: 13.41, timestamp: 1714558530 }

function reasonOf(payload: unknown): string | undefined {
  const bytes = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))
  return refusalOf(() => fix.decode(bytes))?.message
}

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
  [[{ ...ENTRY, lat: 'x' }, 7], 'lat is a string, not a number'],
])('refuses %j, and says why', (payload, why) => {
  expect(reasonOf(payload)).toBe(`the frame is malformed: ${why}`)
})
