/*
 * VALTRACK V4 (Raviraj Technologies), HTTP, JSON. No specification is known: inferred from requests.
 *
 *   { "resource": [{ "devid", "etype", "lat", "lon", "speed"?, "nlat"?, "nlon"?, … }, …] }
 *
 *   vbat  the vehicle's battery, V
 *   lat, lon  degrees, as text; both 0: no fix      speed  km/h      nlat, nlon  of the cell: not read
 *
 * There is no time in it: the time is that of the arrival. 200 acknowledges.
 */
import { jsonFix, jsonProtocol, optionalNumber } from '../kit/index.ts'

const fixOf = jsonFix({ latitude: 'lat', longitude: 'lon', speedKmh: 'speed' })

export default jsonProtocol({
  name: 'valtrack',
  devices: 'VALTRACK V4',
  acknowledges: 'fixes',
  http: { port: 5255 },
  isPlaceOfOthers: (name) => name === 'nlat' || name === 'nlon',
  each: 'resource',
  device: 'devid',
  fix: (entry, session) => (optionalNumber(entry.lat) || optionalNumber(entry.lon) ? fixOf(entry, session) : undefined),
  said: { external_voltage: 'vbat' },
  none: 'no fix',
})
