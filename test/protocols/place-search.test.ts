import { expect, it } from 'vitest'
import { decodeFrame, type Protocol, parseJson } from '../../protocols/kit/index.ts'
import { holdsPlace, looksLikePlace } from '../../protocols/kit/place-search.ts'
import { cpuOf, MOST_CPU_MS } from '../support/cost.ts'
import { get, post } from '../support/protocol-cases.ts'
import { newSession } from '../support/rough.ts'

const PAIR = '54.697,25.2683'

it.each([
  { lat: 52.5 },
  { LAT: '52.5' },
  { Longitud: 13.4 },
  { latitudeDeg: 52.5 },
  { best_lat: -0.1 },
  { gps_lat: '52,5' },
  { gpsLat: 52.5 },
  { 'position.latitude': 52.5 },
  { lng: 'E13.4' },
  { gps_long: 13.4 },
  { latitude: { value: 52.5, unit: 'deg' } },
  { lat1: 525_250_000 },
  { a: [{ b: [{ c: { lon: 13.4 } }] }] },
  { geometry: { type: 'Point', coordinates: [13.4, 52.5] } },
  { coordinates: [[[13.4, 52.5]]] },
  { position: { x: 13.4, y: 52.5 } },
  { currentLocation: ['52.5', '13.4'] },
  { position: PAIR },
  { v: PAIR },
  { v: '54.6 25.2' },
  { v: '54,697; 25,2683' },
  { v: 'https://maps.example.com/?q=54.697,25.2683' },
  { v: 'POINT(25.2683 54.697)' },
  { v: '$GPRMC,101530,A,5231.5000,N,01324.6000,W,12.5,360.0,010524,,,A' },
  { v: 'alarm at lat: 52.5' },
  { v: '{"lat":52.5,"lon":13.4}' },
])('finds a place in the JSON %j', (value) => {
  expect(holdsPlace(value)).toBe(true)
})

it.each([
  null,
  [],
  { latitude: null, longitude: null, temperature: 20 },
  { lat: '', lon: 'null', position: {}, coordinates: [], location: null },
  { lat: 0, lon: '0.000000', position: '0.0,0.0', coordinates: [0, 0] },
  { position: { valid: false, satellites: 3 }, 'position.satellites': 3, throttle_position: 12 },
  { latency: 12, platform: 3, flat: 1, gallon: 2, colon: 1, relation: 4, longPress: 1, latest: 7 },
  { location: 'warehouse 7', lat: 'unknown' },
  { version: '1.2, 3', voltages: '3.7;', cell: '257,02,16,2224', time: '2024-05-01 10:15:30.123' },
  {
    rx_metadata: [{ location: { latitude: 52.5, longitude: 13.4 } }],
    rxInfo: [{ lat: 52.5 }],
    hotspots: [{ lat: 1 }],
  },
  { locations: { user: { latitude: 52.5, longitude: 13.4, source: 'SOURCE_REGISTRY' } } },
])('finds no place in the JSON %j', (value) => {
  expect(holdsPlace(value)).toBe(false)
})

const most = 65_000
it.each([
  ['blanks behind a decimal', `1.1${' '.repeat(most)}x`],
  ['JSON with blanks', JSON.stringify({ a: `${' '.repeat(most)}x` })],
  ['JSON with blanks behind a letter', JSON.stringify({ a: `N${' '.repeat(most)}x` })],
  ['digits', '1'.repeat(most)],
  ['digits in JSON', JSON.stringify({ a: '0'.repeat(most) })],
])('searches 64 KB for a place in little CPU time: %s', (_, body) => {
  const frame = post('/?id=1', body)
  expect(cpuOf(() => looksLikePlace(frame, true))).toBeLessThan(MOST_CPU_MS)
})

it('refuses 64 KB of damaged JSON with escaped quotes in little CPU time', () => {
  const text = `{"${'\\"'.repeat(most / 2)}\\`
  expect(cpuOf(() => expect(() => parseJson(text)).toThrow('JSON'))).toBeLessThan(MOST_CPU_MS)
})

it('finds a place under unknown names if the device id has padding', () => {
  const says = { request: () => ({ device: ' van-1', none: 'no place' }) } as unknown as Protocol
  const { device, fixes, none } = decodeFrame(says, post('/?id=van-1%20', '{"lat":52.5,"lon":13.4}'), newSession())
  expect([device, fixes, none]).toEqual(['van-1', [], undefined])
})

it.each([
  ['in a query', get('/log?id=1&best_lat=52.5&best_lon=13.4')],
  ['in a query with escapes', get('/?id=1&where=54.697%2C25.2683')],
  ['in a form', post('/', 'id=1&Latitud=52.5')],
  ['in JSON', post('/', '{"a":{"latitudeDeg":52.5}}')],
  ['in JSON with escapes', post('/', '%7B%22latitudeDeg%22%3A52.5%7D')],
  ['in XML', post('/', '<gps><lat>52.5</lat></gps>')],
  [
    'in a part of a form',
    post('/', '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n{"gps_lat":52.5}\r\n--x--'),
  ],
  ['in a publication of JSON', Buffer.from(' [{"gps_lat":"52.5"}]')],
  ['in a line with JSON', Buffer.from('${"payload":{"gps_lat":52.5}}xx')],
  ['in a publication of parameters', Buffer.from('id=7&gps_lat=52.5')],
  ['in a publication of a URL', Buffer.from('http://host:5055/?id=7&gps_lat=52.5')],
])('finds a place in a frame: %s', (_, frame) => {
  expect(looksLikePlace(frame, true)).toBe(true)
})

it.each([
  ['with a path like one', get('/lat=52.5/lon=13.4')],
  ['without values', get('/?id=1&lat=&lon=&latitude=NaN')],
  ['of text that is no parameters', Buffer.from('*HQ,8168000008,LINK,lat=52.5#')],
  ['of a list in other brackets', Buffer.from('[3G*8800000015*0009*LK,lat=52.5]')],
  ['of bytes', Buffer.from('7878001152fd4a2e00', 'hex')],
])('finds no place in a frame: %s', (_, frame) => {
  expect(looksLikePlace(frame, true)).toBe(false)
})

it('finds no place in parameters that arrive on a stream, because they are a line of its protocol', () => {
  expect(looksLikePlace(Buffer.from('cmd=aid;user=a;lat=52.5;lon=13.4'), false)).toBe(false)
})

const isOfOthers = (name: string, value: unknown) => name === 'lat' || value === 7

it('ignores the place of a base station or a waypoint', () => {
  expect(holdsPlace({ lat: 52.5, lon: 7 }, isOfOthers)).toBe(false)
  expect(holdsPlace({ lat: 52.5, lon: 8 }, isOfOthers)).toBe(true)
})

it('finds a place in JSON that is nested as deeply as a request can hold', () => {
  const depth = 30_000
  expect(holdsPlace(JSON.parse(`${'['.repeat(depth)}{"lat":52.5}${']'.repeat(depth)}`))).toBe(true)
})
