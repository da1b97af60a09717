/*
 * Jimi IoT cameras (JC400 and others): the upload of a picture or video of an event ("Jimi IoT file upload"). HTTP POST to
 * /upload, multipart/form-data; no specification is known: inferred from a request. One part is JSON:
 *
 *   callbackBody  { "imei", "lat", "lng", "alarmTime", "localFileName", "mimeType", … }
 *
 *   lat, lng  degrees, as text      alarmTime  unix seconds
 *
 * The place is read; the file itself is not kept. Answer: {"code":200,"message":"the high success","data":"<file name>"}
 */
import {
  DecodeError,
  type HttpRequest,
  type Message,
  numericMember,
  objectOf,
  type Protocol,
  parseJson,
  type Session,
  textMember,
  unixTime,
} from '../kit/index.ts'

export default {
  name: 'jimiphoto',
  devices: 'Jimi IoT JC400, JC450 and other cameras',
  acknowledges: 'fixes',
  http: { port: 5267 },
  request,
} satisfies Protocol

const BLANK_LINE = '\r\n\r\n'

function request({ body }: HttpRequest, session: Session): Message {
  const callback = objectOf(parseJson(partOf(body, 'callbackBody')), 'callbackBody')
  const device = textMember(callback, 'imei')
  if (device === undefined) throw new DecodeError('malformed', 'imei is missing')
  const file = textMember(callback, 'localFileName') ?? ''
  const answer = JSON.stringify({ code: 200, message: 'the high success', data: file })
  const response = { headers: { 'content-type': 'application/json' }, body: answer }
  const latitude = numericMember(callback, 'lat')
  const longitude = numericMember(callback, 'lng')
  if (latitude === undefined || longitude === undefined) return { device, none: 'photo', response }
  const seconds = numericMember(callback, 'alarmTime')
  const time = seconds === undefined ? session.now : unixTime(seconds)
  return { device, fixes: [{ time, latitude, longitude, valid: true }], response }
}

/** The content of a part of multipart/form-data. @throws DecodeError `malformed` where it is missing. */
function partOf(body: Buffer, name: string): string {
  const head = body.indexOf(`name="${name}"`)
  const start = head < 0 ? -1 : body.indexOf(BLANK_LINE, head)
  const end = start < 0 ? -1 : body.indexOf('\r\n--', start + BLANK_LINE.length)
  if (end < 0) throw new DecodeError('malformed', `${name} is missing`)
  return body.toString('utf8', start + BLANK_LINE.length, end)
}
