/*
 * OwnTracks for Android, iOS and its trackers: "JSON" and "HTTP" of the booklet (owntracks.org/booklet/tech). One object,
 * or an array of them:
 *
 *   { "_type": "location", "tst", "lat", "lon", "acc"?, "alt"?, "vel"?, "cog"?, "tid"?, "topic"? }
 *
 *   tst  unix seconds                  alt  metres        topic  owntracks/<user>/<device>
 *   lat, lon  degrees                  vel  km/h          tid    two letters for a map
 *   acc  metres                        cog  degrees
 *
 * The device is the app's UserID, the second level of the topic. Over MQTT that is the topic of the publication, over HTTP
 * `topic`; without one it is the header X-Limit-U, else X-Limit-D, else `tid`. The password of HTTP Basic is the secret.
 * The frame of a request is `device=…&token=…`, LF, body. No other `_type` is a position.
 */
import {
  DecodeError,
  eachReadable,
  type Fix,
  type HttpRequest,
  heading,
  type JsonObject,
  kmh,
  known,
  type Message,
  numberOf,
  objectOf,
  optionalNumberOf,
  type Protocol,
  parseJson,
  type Session,
  unixTime,
} from '../kit/index.ts'

export default {
  name: 'owntracks',
  devices: 'OwnTracks for Android and iOS',
  acknowledges: 'fixes',
  http: { port: 5144, frame: httpFrame },
  decode,
} satisfies Protocol

function httpFrame({ headers, body }: HttpRequest): Buffer {
  const device = headers['x-limit-u'] || headers['x-limit-d'] || ''
  const [, token = ''] = passwordOf(headers.authorization)
  if (device === '' && token === '') return body
  const parameters = new URLSearchParams({ device, token }).toString()
  return Buffer.concat([Buffer.from(`${parameters}\n`), body])
}

/** The password in `Basic <base64 of user:password>`, as the second element; empty where there is none. */
function passwordOf(authorization?: string): readonly string[] {
  if (authorization === undefined) return []
  const [, credentials = ''] = /^basic +(\S+)$/i.exec(authorization) ?? []
  return /:(.*)$/s.exec(Buffer.from(credentials, 'base64').toString()) ?? []
}

function decode(frame: Buffer, session: Session): Message {
  const { parameters, body } = apart(frame.toString())
  // An empty payload deletes a friend.
  const payload = body.trim() === '' ? [] : parseJson(body)
  const entries = Array.isArray(payload) ? payload : [payload]
  const { good, unreadable } = eachReadable(entries, fixesOf)
  return {
    device: session.transport === 'http' ? deviceOf(entries, parameters) : undefined,
    secret: parameters.get('token') || undefined,
    fixes: good.flat(),
    unreadable,
  }
}

function apart(text: string): { parameters: URLSearchParams; body: string } {
  const end = text.startsWith('device=') ? text.indexOf('\n') + 1 : 0
  return { parameters: end === 0 ? NONE : new URLSearchParams(text.slice(0, end - 1)), body: text.slice(end) }
}

const NONE = new URLSearchParams()

function deviceOf([first]: unknown[], parameters: URLSearchParams): string | undefined {
  const { topic, tid } = (first ?? {}) as JsonObject
  return userOf(topic) || parameters.get('device') || (typeof tid === 'string' && tid) || undefined
}

function userOf(topic: unknown): string | undefined {
  return typeof topic === 'string' ? topic.split('/')[1] : undefined
}

function fixesOf(value: unknown): Fix[] {
  const entry = objectOf(value, 'a message')
  const { _type: type } = entry
  if (typeof type !== 'string') throw new DecodeError('malformed', '_type is missing')
  if (type === 'encrypted') throw new DecodeError('unsupported', 'it is encrypted: use TLS in place of a secret')
  return type === 'location' ? [fixOf(entry)] : []
}

function fixOf(entry: JsonObject): Fix {
  const speed = known(optionalNumberOf(entry, 'vel'))
  return {
    time: unixTime(numberOf(entry, 'tst')),
    latitude: numberOf(entry, 'lat'),
    longitude: numberOf(entry, 'lon'),
    valid: true,
    altitude: optionalNumberOf(entry, 'alt'),
    speed: speed === undefined ? undefined : kmh(speed),
    heading: heading(optionalNumberOf(entry, 'cog')),
    accuracy: known(optionalNumberOf(entry, 'acc')),
  }
}
