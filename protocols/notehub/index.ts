/*
 * Blues Notecard: events that Notehub routes over HTTP ("Routing Data", "System Notefiles", dev.blues.io). HTTP POST, JSON, an event
 * each; 200 acknowledges.
 *
 *   { "device": "dev:I", "file", "when", "where_lat"?, "where_lon"?, "where_when"?,
 *     "best_lat"?, "best_lon"?, "best_location_when"?, "best_location_type"?: "gps" | "triangulated" | "tower", "body": {…} … }
 *
 *   I  IMEI of the Notecard      where_…  by its GPS      best_…  the best of its places      times  unix seconds
 *
 * "triangulated" and "tower" come from cells and Wi-Fi, without a figure for their error: they are no fix. `bearing` and `velocity` in the
 * body of `_track.qo` are averages since the event before, and not read.
 */
import {
  DecodeError,
  type HttpRequest,
  type JsonObject,
  jsonBody,
  type Message,
  numericMember,
  objectOf,
  type Protocol,
  type Session,
  textMember,
  timeMember,
} from '../kit/index.ts'

export default {
  name: 'notehub',
  devices: 'Blues Notecard, through Notehub',
  acknowledges: 'fixes',
  http: { port: 5271 },
  isPlaceOfOthers: (name, value) => OF_CELLS.test(name) || isByCells(value as JsonObject | null),
  request,
} satisfies Protocol

function request(routed: HttpRequest, session: Session): Message {
  const event = objectOf(jsonBody(routed), 'the body')
  const device = textMember(event, 'device')
  if (!device?.startsWith('dev:')) throw new DecodeError('malformed', 'device is not that of a Notecard')
  const place = placeOf(event, ['where_lat', 'where_lon', 'where_when'])
  const best = placeOf(event, ['best_lat', 'best_lon', 'best_location_when'])
  const found = place ?? (isByCells(event) ? undefined : best)
  if (!found) return { device, none: best ? 'cells' : 'no place' }
  const { time = timeMember(event, 'when') ?? session.now, latitude, longitude } = found
  return { device, fixes: [{ time, latitude, longitude, valid: true }] }
}

/** Places of cell towers and Wi-Fi, which are no fix. */
const OF_CELLS = /^(?:tower|tri)_/

function isByCells(event: JsonObject | null): boolean {
  return (event?.best_location_type ?? 'gps') !== 'gps'
}

function placeOf(event: JsonObject, [lat, lon, when]: readonly [lat: string, lon: string, when: string]) {
  const latitude = numericMember(event, lat)
  const longitude = numericMember(event, lon)
  if (latitude === undefined || longitude === undefined) return undefined
  return { latitude, longitude, time: timeMember(event, when) }
}
