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
import { DecodeError, type JsonObject, jsonBody, jsonFix, jsonProtocol, objectOf } from '../kit/index.ts'

const byGps = jsonFix({ timeOrArrival: ['where_when', 'when'], latitude: 'where_lat', longitude: 'where_lon' })
const best = jsonFix({ timeOrArrival: ['best_location_when', 'when'], latitude: 'best_lat', longitude: 'best_lon' })

export default jsonProtocol({
  name: 'notehub',
  devices: 'Blues Notecard, through Notehub',
  acknowledges: 'fixes',
  http: { port: 5271 },
  isPlaceOfOthers: (name, value) => OF_CELLS.test(name) || isByCells(value as JsonObject | null),
  content(body) {
    const event = objectOf(jsonBody({ body }), 'the body')
    if (String(event.device).startsWith('dev:')) return event
    throw new DecodeError('malformed', 'device is not that of a Notecard')
  },
  device: 'device',
  fix: (event, session) => byGps(event, session) ?? (isByCells(event) ? undefined : best(event, session)),
  none: (event) => (isByCells(event) && event.best_lat != null && event.best_lon != null ? 'cells' : 'no place'),
})

/** Places of cell towers and Wi-Fi, which are no fix. */
const OF_CELLS = /^(?:tower|tri)_/

function isByCells(event: JsonObject | null): boolean {
  return (event?.best_location_type ?? 'gps') !== 'gps'
}
