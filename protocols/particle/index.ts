/*
 * Particle Tracker One, Tracker SoM, Monitor One: the event `loc` through a webhook of the Particle cloud ("point schema",
 * docs.particle.io/assets/files/tracker; "Webhooks", docs.particle.io). HTTP POST, JSON; 200 acknowledges.
 *
 *   { "event": "loc", "coreid", "published_at", "data": text or object }
 *   data: { "cmd": "loc", "time", "loc": { "lck", "time", "lat", "lon", "alt", "hd", "spd", "h_acc", "v_acc" … } … }
 *
 *   lck  0: no fix                     lat, lon  degrees      hd  degrees      spd  m/s
 *   times  unix seconds, of `loc` that of the fix; published_at  ISO 8601      alt, h_acc, v_acc  metres
 *
 * Of other events nothing is known: a product chooses their content.
 */
import {
  DecodeError,
  dop,
  type HttpRequest,
  heading,
  jsonBody,
  known,
  type Message,
  numericMember,
  objectMember,
  objectOf,
  optionalNumberOf,
  type Protocol,
  parseJson,
  type Session,
  textMember,
  timeMember,
} from '../kit/index.ts'

export default {
  name: 'particle',
  devices: 'Particle Tracker One, Tracker SoM, Monitor One',
  acknowledges: 'fixes',
  http: { port: 5270 },
  isPlaceOfOthers: (name) => NOT_OF_PLACE.has(name),
  request,
} satisfies Protocol

/** What `loc` has without a fix, too: signal and charge. */
const NOT_OF_PLACE = new Set(['cell', 'batt'])

function request(webhook: HttpRequest, session: Session): Message {
  const body = objectOf(jsonBody(webhook), 'the body')
  const device = textMember(body, 'coreid')
  if (device === undefined) throw new DecodeError('malformed', 'coreid is missing')
  if (body.event !== 'loc') return { device }
  const data = objectOf(typeof body.data === 'string' ? parseJson(body.data) : body.data, 'data')
  const loc = objectMember(data, 'loc')
  const latitude = numericMember(loc, 'lat')
  const longitude = numericMember(loc, 'lon')
  if (latitude === undefined || longitude === undefined) return { device, none: 'no fix' }
  const fix = {
    time: timeMember(loc, 'time') ?? timeMember(data, 'time') ?? timeMember(body, 'published_at') ?? session.now,
    latitude,
    longitude,
    valid: loc.lck !== 0,
    altitude: optionalNumberOf(loc, 'alt'),
    speed: known(optionalNumberOf(loc, 'spd')),
    heading: heading(optionalNumberOf(loc, 'hd')),
    accuracy: dop(optionalNumberOf(loc, 'h_acc') ?? optionalNumberOf(loc, 'hAcc')),
  }
  return { device, fixes: [fix] }
}
