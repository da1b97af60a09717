import { expect, it } from 'vitest'
import { jsonFix, jsonProtocol, type Message, placedFix, type Session } from '../../protocols/kit/index.ts'
import { newSession, reasonOf } from '../support/rough.ts'

const AT = '2026-11-20T06:30:15Z'
const TIME = Date.parse(AT)
const PLACE = { latitude: 'lat', longitude: 'lon' }
const fix = (more: object = {}) => ({ time: TIME, latitude: 1.5, longitude: -2.5, valid: true, ...more })

it('jsonFix takes the first of several paths that has a value, and indexes of lists', () => {
  const read = jsonFix({ time: ['a/b', 'times/1'], latitude: 'at/0', longitude: 'at/1' })
  const object = { a: { b: null }, times: [0, AT], at: ['1.5', -2.5] }
  expect(read(object, newSession())).toEqual(fix())
  expect(read({ ...object, a: 'text' }, newSession())).toEqual(fix())
})

it.each([{}, { lat: 1 }, { lat: 1, lon: null }, { lat: '', lon: 'null' }])('jsonFix reads no fix from %j', (object) => {
  expect(jsonFix(PLACE)(object, newSession())).toBeUndefined()
  expect(reasonOf(() => placedFix(PLACE)(object, newSession()))).toBe('malformed')
})

it.each([
  ['speedMs', 10, { speed: 10 }],
  ['speedCms', 1000, { speed: 10 }],
  ['speedKmh', '36', { speed: 10 }],
  ['speedKnots', -1, {}],
  ['course', 360, { heading: 0 }],
  ['accuracy', 0, { accuracy: 0 }],
  ['accuracyOr0', 0, {}],
  ['hdop', 0, {}],
  ['satellites', 8, { satellites: 8 }],
  ['altitude', '5m', {}],
  ['valid', 0, { valid: false }],
  ['valid', false, { valid: false }],
])('jsonFix reads %s %j', (name, value, expected) => {
  const read = jsonFix({ ...PLACE, time: 'at', [name]: 'value' })
  expect(read({ lat: 1.5, lon: -2.5, at: AT, value }, newSession())).toEqual(fix(expected))
})

it.each([AT, TIME / 1000, TIME, `${TIME / 1000}`, ` +${TIME / 1000}.0 `, AT.replace('T', ' ')])(
  'jsonFix reads the time %j',
  (at) => {
    expect(jsonFix({ ...PLACE, time: 'at' })({ lat: 1.5, lon: -2.5, at }, newSession())?.time).toBe(TIME)
  },
)

it('jsonFix refuses a fix without its time, unless the time of arrival may replace it', () => {
  const object = { lat: 1, lon: 2 }
  const session = newSession()
  expect(reasonOf(() => jsonFix({ ...PLACE, time: 'at' })(object, session))).toBe('malformed')
  expect(jsonFix({ ...PLACE, timeOrArrival: 'at' })(object, session)?.time).toBe(session.now)
})

const common = { name: 'test', devices: 'Test', device: 'id', fix: PLACE }
const posted = jsonProtocol({ ...common, http: { port: 1 }, each: 'list', answer: '{}' })
const request = (json: unknown): Message =>
  posted.request({ method: 'POST', uri: '/', headers: {}, body: Buffer.from(JSON.stringify(json)) }, overHttp())
const place = { lat: 1, lon: 2 }

it('jsonProtocol names the device of the message if all entries have the same, else the device of each fix', () => {
  const one = request({ list: [{ id: 7, ...place }, { id: '7' }] })
  expect([one.device, one.fixes?.map(({ device }) => device)]).toEqual(['7', [undefined]])
  const several = request({
    list: [
      { id: 'a', ...place },
      { id: 'b', ...place },
    ],
  })
  expect([several.device, several.fixes?.map(({ device }) => device)]).toEqual([undefined, ['a', 'b']])
})

it('jsonProtocol reports entries without a device or with half a place as unreadable, and reads the others', () => {
  const message = request({ list: [place, { id: 'a', ...place }, { id: 'a', lat: 1 }, 'x'] })
  expect([message.fixes?.length, message.unreadable]).toEqual([1, [0, 2, 3]])
  expect(message.response?.body).toBe('{}')
  expect(reasonOf(() => request({ list: [place] }))).toBe('malformed')
  expect(reasonOf(() => request({ list: {} }))).toBe('malformed')
})

it('jsonProtocol does not answer a message of an unknown kind on a stream, and accepts one without a device there', () => {
  const { decode } = jsonProtocol({
    ...common,
    tcp: { port: 1, frame: () => 0 },
    none: ({ kind }) => (kind === 1 ? 'status' : undefined),
    answer: 'OK',
  })
  const decoded = (json: unknown) => decode?.(Buffer.from(JSON.stringify(json)), newSession())
  expect(decoded({ kind: 1 })).toEqual({ none: 'status', reply: Buffer.from('OK') })
  expect(decoded({ kind: 2, id: 'a' })).toEqual({ device: 'a' })
  expect(decoded(place)?.reply).toEqual(Buffer.from('OK'))
})

const overHttp = (): Session => ({ ...newSession(), transport: 'http' })
