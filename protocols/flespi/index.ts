/*
 * flespi (Gurtam): its HTTP and MQTT streams, and messages in its JSON ("flespi message" and "mqtt", flespi.com/protocols).
 * One object or an array of them; those of a stream may be of several devices:
 *
 *   { "ident", "timestamp", "position.latitude", "position.longitude", "position.altitude"?, "position.speed"?,
 *     "position.direction"?, "position.satellites"?, "position.hdop"?, "position.valid"? … }
 *
 *   ident  the device                timestamp  unix seconds, or RFC 3339      altitude  metres     speed  km/h
 *   direction  degrees               valid  true where it is left out          HTTP: 200 acknowledges all of them
 *
 * Over MQTT a stream or a device publishes to devices/<id>/flespi; `ident` in a message names its device, and may be left out.
 */
import {
  DecodeError,
  dop,
  eachReadable,
  type Fix,
  heading,
  holdsPlace,
  type HttpRequest,
  jsonBody,
  type JsonObject,
  kmh,
  known,
  type Message,
  numberOf,
  objectOf,
  optionalNumberOf,
  type Protocol,
  rfc3339,
  type Session,
  textMember,
  unixTime,
} from '../kit/index.ts'

export default {
  name: 'flespi',
  devices: 'flespi streams, and whatever sends its JSON',
  acknowledges: 'fixes',
  http: { port: 5149 },
  decode,
  request: ({ body }: HttpRequest, session: Session) => decode(body, session),
} satisfies Protocol

function decode(frame: Buffer, session: Session): Message {
  const payload = jsonBody({ body: frame })
  const { good, unreadable } = eachReadable(
    Array.isArray(payload) ? payload : [payload],
    (each) => messageOf(objectOf(each, 'a message'), session),
    ({ fix }, each) => !fix && holdsPlace(each),
  )
  const idents = new Set(good.map(({ ident }) => ident))
  const device = idents.size === 1 ? good[0].ident : undefined
  const fixes = good.flatMap(({ ident, fix }) => (fix ? [idents.size > 1 ? { ...fix, device: ident } : fix] : []))
  return fixes.length > 0 ? { device, fixes, unreadable } : { device, none: 'no place', unreadable }
}

function messageOf(message: JsonObject, session: Session): { ident?: string; fix?: Fix } {
  const ident = textMember(message, 'ident')
  if (ident === undefined && session.transport === 'http') throw new DecodeError('malformed', 'ident is missing')
  if ((message['position.latitude'] ?? message['position.longitude'] ?? undefined) === undefined) return { ident }
  const speed = known(optionalNumberOf(message, 'position.speed'))
  return {
    ident,
    fix: {
      time: timeOf(message.timestamp, session),
      latitude: numberOf(message, 'position.latitude'),
      longitude: numberOf(message, 'position.longitude'),
      valid: message['position.valid'] !== false,
      altitude: optionalNumberOf(message, 'position.altitude'),
      speed: speed === undefined ? undefined : kmh(speed),
      heading: heading(optionalNumberOf(message, 'position.direction')),
      hdop: dop(optionalNumberOf(message, 'position.hdop')),
      satellites: known(optionalNumberOf(message, 'position.satellites')),
    },
  }
}

function timeOf(timestamp: unknown, session: Session): number {
  if (timestamp === undefined || timestamp === null) return session.now
  if (typeof timestamp === 'number') return unixTime(timestamp)
  if (typeof timestamp === 'string') return rfc3339(timestamp)
  throw new DecodeError('malformed', 'timestamp is neither a number nor text')
}
