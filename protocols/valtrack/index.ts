/*
 * VALTRACK V4 (Raviraj Technologies), HTTP, JSON. No specification is known: inferred from requests.
 *
 *   { "resource": [{ "devid", "etype", "lat", "lon", "speed"?, "nlat"?, "nlon"?, … }, …] }
 *
 *   lat, lon  degrees, as text; both 0: no fix      speed  km/h      nlat, nlon  of the cell: not read
 *
 * There is no time in it: the time is that of the arrival. 200 acknowledges.
 */
import {
  DecodeError,
  eachReadable,
  type Fix,
  holdsPlace,
  type HttpRequest,
  jsonBody,
  type JsonObject,
  kmh,
  known,
  type Message,
  numericMember,
  objectOf,
  optionalNumberOf,
  type Protocol,
  type Session,
  textMember,
} from '../kit/index.ts'

export default {
  name: 'valtrack',
  devices: 'VALTRACK V4',
  acknowledges: 'fixes',
  http: { port: 5255 },
  isPlaceOfOthers,
  request,
} satisfies Protocol

function isPlaceOfOthers(name: string): boolean {
  return name === 'nlat' || name === 'nlon'
}

function request(report: HttpRequest, session: Session): Message {
  const { resource } = objectOf(jsonBody(report), 'the body')
  if (!Array.isArray(resource)) throw new DecodeError('malformed', 'resource is missing')
  const { good, unreadable } = eachReadable(
    resource,
    (each) => entryOf(objectOf(each, 'a resource'), session),
    ({ fix }, each) => !fix && holdsPlace(each, isPlaceOfOthers),
  )
  const ids = new Set(good.map(({ device }) => device))
  const device = ids.size === 1 ? good[0].device : undefined
  const fixes = good.flatMap(({ device: id, fix }) => (fix ? [ids.size > 1 ? { ...fix, device: id } : fix] : []))
  return fixes.length > 0 ? { device, fixes, unreadable } : { device, none: 'no fix', unreadable }
}

function entryOf(entry: JsonObject, session: Session): { device: string; fix?: Fix } {
  const device = textMember(entry, 'devid')
  if (device === undefined) throw new DecodeError('malformed', 'devid is missing')
  const latitude = numericMember(entry, 'lat')
  const longitude = numericMember(entry, 'lon')
  if (!latitude && !longitude) return { device }
  const speed = known(optionalNumberOf(entry, 'speed'))
  const place = { latitude: latitude ?? 0, longitude: longitude ?? 0 }
  return {
    device,
    fix: { time: session.now, ...place, valid: true, speed: speed === undefined ? undefined : kmh(speed) },
  }
}
