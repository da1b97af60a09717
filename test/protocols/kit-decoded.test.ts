import { expect, it } from 'vitest'
import { decodedFixes } from '../../protocols/kit/decoded.ts'
import { kmh, knots, mph } from '../../protocols/kit/index.ts'

const RECEIVED = Date.UTC(2024, 4, 1, 10, 15, 30)
const PLACE = { latitude: 52.5, longitude: 13.4 }

const read = (payload: object) => decodedFixes(payload as Readonly<Record<string, unknown>>, RECEIVED)

/** Returns the fixes without their unknown values. */
const fixesOf = (payload: object) => read(payload).fixes.map((fix) => JSON.parse(JSON.stringify(fix)))

it('reports a further place without a time as unreadable, so that the frame is kept', () => {
  const { fixes, unreadable } = read({ gps_1: PLACE, gps_2: { latitude: 52.6, longitude: 13.5 } })
  expect([fixes.length, unreadable]).toEqual([1, [1]])
})

it('reads a place that is repeated under another name once', () => {
  const { fixes, unreadable } = read({ gps_1: PLACE, location: PLACE })
  expect([fixes.length, unreadable]).toEqual([1, undefined])
})

it('takes the time of the surrounding object if the time of a place is null', () => {
  expect(fixesOf({ time: '2026-11-20T12:30:00Z', gps_1: { ...PLACE, time: null } })).toMatchObject([
    { time: Date.UTC(2026, 10, 20, 12, 30) },
  ])
})

it.each([
  { latitude: 52.5, longitude: 13.4 },
  { Latitude: '52.5', Longitude: ' 13.4' },
  { Latitude: 52.5, Longitud: 13.4 },
  { latitudeDeg: 52.5, longitudeDeg: 13.4 },
  { lat: 52.5, lng: 13.4 },
  { lat: 52.5, lon: 13.4 },
  { LAT: 52.5, LONG: 13.4 },
  { gpsLatitude: 52.5, gpsLongitude: 13.4 },
  { gps_lat: 52.5, gps_lon: 13.4 },
  { position: { lat: 52.5, lng: 13.4 } },
  { data: { location: { latitude: 52.5, longitude: 13.4 } } },
  { gpsLocation: { 1: { latitude: 52.5, longitude: 13.4 } } },
  { Location: '52.5, 13.4' },
  { position: '52.5;13.4', latitude: 52.5 },
  {
    messages: [
      [
        { type: 'Longitude', measurementValue: '13.4' },
        { type: 'Latitude', measurementValue: 52.5 },
      ],
    ],
  },
])('reads the place of %j', (payload) => {
  expect(fixesOf(payload)).toEqual([{ ...PLACE, time: RECEIVED, valid: true }])
})

it.each([
  { latitude: 52.5 },
  { Latitude: 52.5, LON: 'ON' },
  { Latitude: 52.5, LON: 1 },
  { lat: 52.5, position: { lng: 13.4 } },
  { gpsLat: 52.5, lon: 13.4 },
  { latitude: 'none', longitude: 'none' },
  { latitude: null, longitude: null },
  { gateway: PLACE },
  { rxInfo: [{ location: PLACE }] },
  { hotspots: [{ lat: 52.5, long: 13.4 }] },
  { wifi: [{ lat: 52.5, lng: 13.4 }] },
  { location: 'Berlin, 13' },
  { firmware: '52.5,13.4' },
  { coordinates: [13.4, 52.5] },
  [[[[[[[PLACE]]]]]]],
])('reads no place from %j', (payload) => {
  expect(fixesOf(payload)).toEqual([])
})

it.each([
  ['speed', 10, { speed: knots(10) }],
  ['speedKmph', 36, { speed: kmh(36) }],
  ['speed_km_h', 36, { speed: kmh(36) }],
  ['Speed (m/s)', 10, { speed: 10 }],
  ['gps_speed_mph', 10, { speed: mph(10) }],
  ['speedKnots', '10', { speed: knots(10) }],
  ['speedFurlongs', 10, {}],
  ['speed', -1, {}],
  ['headingDeg', 360, { heading: 0 }],
  ['course', 90, { heading: 90 }],
  ['direction', 'uplink', {}],
  ['altitude', 34, { altitude: 34 }],
  ['horizontalAccuracy', 5, { accuracy: 5 }],
  ['accuracy', 0, {}],
  ['HDOP', 0.9, { hdop: 0.9 }],
  ['satellites', 8, { satellites: 8 }],
  ['fixFailed', true, { valid: false }],
  ['fixFailed', false, {}],
  ['gps_fix', 0, { valid: false }],
  ['gpsFix', '3', {}],
  ['positionValid', 'false', { valid: false }],
  ['time', '2024-05-01T08:00:00Z', { time: Date.UTC(2024, 4, 1, 8) }],
  ['timestamp', 1714550400, { time: Date.UTC(2024, 4, 1, 8) }],
  ['timestamp', 1714550400000, { time: Date.UTC(2024, 4, 1, 8) }],
  ['time', '08:00:00', {}],
  ['time', 0, {}],
])('reads %s %j beside a place', (name, value, said) => {
  expect(fixesOf({ ...PLACE, [name]: value })).toEqual([{ ...PLACE, time: RECEIVED, valid: true, ...said }])
})

it('takes from the surrounding objects what the object of the place does not say', () => {
  const payload = { speedKmh: 36, heading: 1, gps: { ...PLACE, heading: 90 } }
  expect(fixesOf(payload)).toMatchObject([{ ...PLACE, speed: kmh(36), heading: 90 }])
})

it('reads a further place only with a time of its own', () => {
  const [first, second] = [1714550400, 1714550460]
  expect(fixesOf({ points: [{ ...PLACE, time: first }, { ...PLACE, time: second }, PLACE] })).toMatchObject([
    { time: first * 1000 },
    { time: second * 1000 },
  ])
  expect(fixesOf({ time: first, gps_1: PLACE, gps_2: { latitude: 1, longitude: 2 } })).toMatchObject([PLACE])
})
