import { expect, it } from 'vitest'
import { type HttpRequest, knots, type Message, type Session } from '../../protocols/kit/index.ts'
import osmand from '../../protocols/osmand/index.ts'
import { newSession, refusalOf } from '../support/rough.ts'

const COORDS = { latitude: 52.525, longitude: 13.41, accuracy: 4.5, speed: 10, heading: 270, altitude: 34 }
const LOCATION = { timestamp: '2024-05-01T10:15:30.250Z', coords: COORDS, is_moving: true, battery: { level: 1 } }
const FIX = {
  time: Date.UTC(2024, 4, 1, 10, 15, 30, 250),
  latitude: 52.525,
  longitude: 13.41,
  valid: true,
  altitude: 34,
  speed: 10,
  heading: 270,
  accuracy: 4.5,
}

const http = (): Session => ({ ...newSession(), transport: 'http' })

/** The fix of LOCATION, which is moving and has a full battery. */
const SAYING = { ...FIX, said: { moving: true, battery_percent: 100 } }

function request(uri: string, body = '', headers: HttpRequest['headers'] = {}): Message {
  return osmand.request({ method: 'POST', uri, headers, body: Buffer.from(body) }, http())
}

function posted(body: unknown, uri = '/'): Message {
  return request(uri, typeof body === 'string' ? body : JSON.stringify(body), { 'content-type': 'application/json' })
}

const withCoords = (coords: unknown) => () => posted({ location: { ...LOCATION, coords }, device_id: 'a' })

const messageOf = (work: () => unknown) => refusalOf(work)?.message

it('reads the fix, the device and its token from the query', () => {
  const uri =
    '/?id=van-12&lat=52.525&lon=13.41&timestamp=1714558530&speed=10&bearing=360&altitude=34&accuracy=4.5&hdop=1.2&token=a%20b'
  expect(request(uri)).toEqual({
    device: 'van-12',
    secret: 'a b',
    fixes: [{ ...FIX, time: Date.UTC(2024, 4, 1, 10, 15, 30), speed: knots(10), heading: 0, hdop: 1.2 }],
  })
})

it('reads the parameters of a form together with those of the query', () => {
  const { device, fixes } = request('/?id=12', 'location=52.525,13.41&timestamp=1714558530250&heading=270\r\n')
  expect(device).toBe('12')
  expect(fixes).toMatchObject([{ time: FIX.time, latitude: 52.525, longitude: 13.41, heading: 270 }])
})

it.each([
  ['1714558530', 0],
  ['1714558530.25', 250],
  ['1714558530250', 250],
  ['2024-05-01T10:15:30.25Z', 250],
  ['2024-05-01T12:15:30%2B02:00', 0],
  ['2024-05-01+10:15:30', 0],
  ['2024-05-01T12:15:30+02:00', 0],
  ['2024-05-01T12:15:30.25+0200', 250],
  ['2024-05-01+12:15:30+02:00', 0],
])('reads timestamp=%s', (timestamp, ms) => {
  const { fixes } = request(`/?id=1&lat=1&lon=2&timestamp=${timestamp}`)
  expect(fixes?.[0].time).toBe(Date.UTC(2024, 4, 1, 10, 15, 30) + ms)
})

it('takes the time of arrival if a request has no time, or a date alone', () => {
  for (const rest of ['', '&time=', '&date=2024-05-01'])
    expect(request(`/?deviceid=1&lat=1&lon=2${rest}`).fixes?.[0].time).toBe(newSession().now)
})

it('reads unix seconds from `time`, and a time of day beside a date', () => {
  for (const time of ['time=1714558530', 'date=2024-05-01&time=10:15:30'])
    expect(request(`/?id=1&lat=1&lon=2&${time}`).fixes?.[0].time).toBe(1_714_558_530_000)
})

it.each(['10:15:30', '2024/05/01 10:15:30', 'soon'])('refuses a fix with time=%s', (time) => {
  expect(() => request(`/?id=1&lat=1&lon=2&time=${time}`)).toThrow('the frame is malformed')
})

it.each(['lat=51,01&lon=-13,4', 'location=51,01,-13,4', 'location=51,01;-13,4', 'location=51.01,-13.4'])(
  'accepts decimal commas: %s',
  (place) => {
    expect(request(`/?id=1&${place}&altitude=34,5`).fixes).toMatchObject([
      { latitude: 51.01, longitude: -13.4, altitude: 34.5 },
    ])
  },
)

it.each(['altitude=NaN', 'accuracy=5m', 'hdop=null', 'speed=', 'speed=x', 'bearing=N', 'sat=Infinity', 'alt=-'])(
  'reads a fix without its bad value: %s',
  (bad) => {
    expect(request(`/?id=1&lat=1&lon=2&timestamp=1714558530&${bad}`).fixes).toEqual([
      { time: Date.UTC(2024, 4, 1, 10, 15, 30), latitude: 1, longitude: 2, valid: true },
    ])
  },
)

it('reads valid=false and valid=0 as an invalid fix', () => {
  const requests = ['false', '0', 'true', '1', ''].map((value) => request(`/?id=1&lat=1&lon=2&valid=${value}`))
  expect(requests.map(({ fixes }) => fixes?.[0].valid)).toEqual([false, false, true, true, true])
})

it('leaves out empty values and values of −1', () => {
  const { fixes } = request('/?id=1&lat=1&lon=2&timestamp=1714558530&speed=-1&bearing=-1&altitude=&accuracy=-1')
  expect(fixes).toEqual([{ time: Date.UTC(2024, 4, 1, 10, 15, 30), latitude: 1, longitude: 2, valid: true }])
})

it('reads no fix from cells alone', () => {
  expect(request('/?id=1&timestamp=1&cell=257,02,16,2224')).toEqual({
    device: '1',
    secret: undefined,
    none: 'no place',
  })
})

it('reads the parameters of a message with its URL, with a question mark, or alone', () => {
  for (const text of ['id=7&lat=1&lon=2', '?id=7&lat=1&lon=2', 'http://host:5055/?id=7&lat=1&lon=2'])
    expect(osmand.decode(Buffer.from(text), newSession())).toMatchObject({ device: '7', fixes: [{ latitude: 1 }] })
})

it('names what is wrong in the parameters of a request', () => {
  expect(messageOf(() => request('/'))).toBe('the frame is malformed: id is missing')
  expect(messageOf(() => request('/?id=1&lat=north&lon=2'))).toBe('the frame is malformed: "north" is not a number')
  for (const bad of ['lat=NaN&lon=2', 'lat=1e999&lon=2', 'lat=1', 'location=1', 'lat=1&lon=2&timestamp=soon'])
    expect(
      messageOf(() => request(`/?id=1&${bad}`)),
      bad,
    ).toMatch('malformed')
})

it('reads one JSON location beside its device', () => {
  expect(posted({ location: LOCATION, device_id: 'van-12' })).toEqual({
    device: 'van-12',
    secret: undefined,
    fixes: [SAYING],
  })
})

it('reads several JSON locations, and reports a malformed one as unreadable', () => {
  const later = { ...LOCATION, timestamp: FIX.time + 1000 }
  const { fixes, unreadable } = posted({ location: [LOCATION, { coords: null }, later], device_id: 'a' })
  expect([fixes, unreadable]).toEqual([[SAYING, { ...SAYING, time: FIX.time + 1000 }], [1]])
})

it('takes the token for JSON from the query', () => {
  expect(posted({ location: LOCATION, device_id: 'a' }, '/?token=Secret1&x={y}')).toMatchObject({
    device: 'a',
    secret: 'Secret1',
    fixes: [FIX],
  })
})

it('keeps all digits of a JSON device id that is a number', () => {
  expect(posted(`{"location": null, "device_id": 12345678901234567890}`)).toEqual({
    device: '12345678901234567890',
    none: 'no place',
  })
  expect(posted(`{"device_id": 356307042441013}`).device).toBe('356307042441013')
  expect(posted(`{"x": {"device_id": 7}, "device_id" :12345678901234567890, "y": "device_id:8"}`).device).toBe(
    '12345678901234567890',
  )
  expect(posted(String.raw`{"device\u005fid": 7}`).device).toBe('7')
})

it('leaves out JSON values of −1 and null', () => {
  const coords = { latitude: 1, longitude: 2, accuracy: null, speed: -1, heading: -1 }
  const { fixes } = posted({ location: { timestamp: LOCATION.timestamp, coords }, device_id: 'a' })
  expect(fixes).toEqual([{ time: FIX.time, latitude: 1, longitude: 2, valid: true }])
})

it('reads a JSON fix without its bad values', () => {
  const coords = { latitude: 1, longitude: 2, accuracy: '5m', speed: 'NaN', heading: {}, altitude: [] }
  const { fixes } = posted({ location: { timestamp: LOCATION.timestamp, coords }, device_id: 'a' })
  expect(fixes).toEqual([{ time: FIX.time, latitude: 1, longitude: 2, valid: true }])
})

it('names what is wrong in the JSON', () => {
  expect(messageOf(() => posted('{"location": '))).toBe('the frame is malformed: it is not JSON')
  expect(messageOf(() => posted({ location: LOCATION }))).toBe('the frame is malformed: id is missing')
  const missing = 'the frame is malformed: coords.latitude or coords.longitude is missing'
  expect(messageOf(withCoords(undefined))).toBe(missing)
  expect(messageOf(withCoords({ ...COORDS, latitude: true }))).toBe(
    'the frame is malformed: coords.latitude is a boolean, not a number',
  )
  expect(messageOf(withCoords({ ...COORDS, longitude: null }))).toBe(missing)
  expect(messageOf(() => posted('{"device_id":"a","location":{"coords":{"latitude":1e999,"longitude":2}}}'))).toBe(
    'the frame is malformed: "Infinity" is not a number',
  )
})
