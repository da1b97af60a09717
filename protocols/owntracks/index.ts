/*
 * OwnTracks for Android, iOS and its trackers: "JSON" and "HTTP" of the booklet (owntracks.org/booklet/tech). One object,
 * or an array of them:
 *
 *   { "_type": "location", "tst", "lat", "lon", "acc"?, "alt"?, "vel"?, "cog"?, "tid"?, "topic"?, "batt"?, "bs"?, … }
 *
 *   tst  unix seconds                  alt  metres        topic  owntracks/<user>/<device>
 *   lat, lon  degrees                  vel  km/h          tid    two letters for a map
 *   acc  metres                        cog  degrees       batt   percent
 *   bs   1: unplugged, 2: charging     uext, ubatt  V, and t  I, i: ignition off, on: of trackers, by the bridge qtripp
 *
 * The device is the app's UserID, the second level of the topic. Over MQTT that is the topic of the publication, over HTTP
 * `topic`; without one it is the user in the header X-Limit-U or in the address (/pub?u=<user>&d=<device>), else the device in X-Limit-D
 * or in the address, else `tid`. The password of HTTP Basic is the secret.
 * The other types of the booklet are no positions: see NOT_PLACES.
 *
 * With an encryption key in the app ("Payload encryption", owntracks.org/booklet/features/encrypt) each of these is within
 *
 *   { "_type": "encrypted", "data": base64 of NNNNNNNNNNNNNNNNNNNNNNNN BB… }
 *
 *   N  24 bytes, the nonce      B  secretbox of libsodium (XSalsa20-Poly1305); the key is the secret of the device
 *
 * Then `topic` and `tid` are mostly encrypted, too: over HTTP a header or the address names the device.
 */
import {
  bodyText,
  DecodeError,
  eachReadable,
  type Fix,
  type HttpRequest,
  type JsonObject,
  jsonBody,
  type Message,
  objectOf,
  optionalNumberOf,
  type Protocol,
  parametersOf,
  parseJson,
  placedFix,
  type Said,
  type Sealed,
  type Session,
  said,
} from '../kit/index.ts'

export default {
  name: 'owntracks',
  devices: 'OwnTracks for Android and iOS',
  acknowledges: 'fixes',
  http: { port: 5144 },
  isPlaceOfOthers: (_, entry) => NOT_PLACES.has(typeOf(entry)),
  decode,
  request,
} satisfies Protocol

function request({ method, uri, headers, body }: HttpRequest, session: Session): Message {
  // Of a client for another protocol, whose position is in the address.
  if (method !== 'POST') throw new DecodeError('unsupported')
  const payload = payloadOf(body)
  const { topic, tid } = firstOf(payload)
  const [, secret] = passwordOf(headers.authorization)
  const device = userOf(topic) || addressedBy({ uri, headers }) || textOf(tid)
  return { ...readPayload(payload, session), device, secret: secret || undefined }
}

/** The user, else the device, that the app names beside its payload. */
function addressedBy({ uri, headers }: Pick<HttpRequest, 'uri' | 'headers'>): string | undefined {
  const query = parametersOf({ uri, body: NO_BODY })
  return headers['x-limit-u'] || query.get('u') || headers['x-limit-d'] || query.get('d') || undefined
}

const NO_BODY = Buffer.alloc(0)

/** The password in `Basic <base64 of user:password>`, as the second element; empty where there is none. */
function passwordOf(authorization?: string): readonly string[] {
  if (authorization === undefined) return []
  const [, credentials = ''] = /^basic +(\S+)$/i.exec(authorization) ?? []
  return /:(.*)$/s.exec(Buffer.from(credentials, 'base64').toString()) ?? []
}

/** A publication: its topic names the device. */
function decode(frame: Buffer, session: Session): Message {
  return readPayload(payloadOf(frame), session)
}

/** An empty payload deletes a friend. */
function payloadOf(body: Buffer): unknown {
  return bodyText({ body }).trim() === '' ? [] : jsonBody({ body })
}

function firstOf(payload: unknown): JsonObject {
  return ((Array.isArray(payload) ? payload[0] : payload) ?? {}) as JsonObject
}

function readPayload(payload: unknown, session: Session): Message {
  if (typeOf(payload) !== 'encrypted') return readEntries(payload, session)
  return { fixes: [], sealed: sealedIn((payload as JsonObject).data) }
}

function sealedIn(data: unknown): Sealed {
  const bytes = Buffer.from(textOf(data) ?? '', 'base64')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new DecodeError('malformed', 'data is no nonce with a box')
  return { nonce: bytes.subarray(0, NONCE_BYTES), box: bytes.subarray(NONCE_BYTES), read: readContent }
}

const NONCE_BYTES = 24
const TAG_BYTES = 16

function readContent(bytes: Buffer, session: Session): Message {
  return readEntries(parseJson(bytes.toString()), session)
}

function readEntries(payload: unknown, session: Session): Message {
  const entries = Array.isArray(payload) ? payload : [payload]
  const { good, unreadable = [] } = eachReadable(entries, (each) => fixesOf(each, session))
  const fixes = good.flat()
  const unknown = entries.flatMap((entry, index) => (isOfUnknownType(entry) ? [index] : []))
  if (unknown.length > 0 && unknown.length === entries.length) return {}
  const unread = [...unreadable, ...unknown].toSorted((one, other) => one - other)
  const rest = unread.length > 0 ? { unreadable: unread } : {}
  return fixes.length > 0 ? { fixes, ...rest } : { none: 'no location', ...rest }
}

function userOf(topic: unknown): string | undefined {
  return typeof topic === 'string' ? topic.split('/')[1] : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function fixesOf(value: unknown, session: Session): Fix[] {
  const entry = objectOf(value, 'a message')
  const { _type: type } = entry
  if (typeof type !== 'string') throw new DecodeError('malformed', '_type is missing')
  if (type === 'encrypted') throw new DecodeError('unsupported', 'a message within others is encrypted')
  return type === 'location' ? [{ ...fixOf(entry, session), said: saidOf(entry) }] : []
}

function saidOf(entry: JsonObject): Said | undefined {
  const { bs, t } = entry
  return said({
    ignition: t === 'I' || t === 'i' ? t === 'i' : undefined,
    external_voltage: optionalNumberOf(entry, 'uext'),
    battery_voltage: optionalNumberOf(entry, 'ubatt'),
    battery_percent: optionalNumberOf(entry, 'batt'),
    charging: bs === 1 || bs === 2 ? bs === 2 : undefined,
  })
}

/** Whether an entry has a type that the booklet does not have. */
function isOfUnknownType(entry: unknown): boolean {
  const type = typeOf(entry)
  return typeof type === 'string' && type !== 'location' && !NOT_PLACES.has(type)
}

function typeOf(entry: unknown): unknown {
  const { _type: type } = (entry ?? {}) as JsonObject
  return type
}

const NOT_PLACES: ReadonlySet<unknown> = new Set(
  'beacon card cmd configuration dump encrypted lwt msg request status steps transition waypoint waypoints'.split(' '),
)

const fixOf = placedFix({
  time: 'tst',
  latitude: 'lat',
  longitude: 'lon',
  altitude: 'alt',
  speedKmh: 'vel',
  course: 'cog',
  accuracy: 'acc',
})
