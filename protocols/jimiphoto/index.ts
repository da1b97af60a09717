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
import { DecodeError, jsonProtocol, parseJson } from '../kit/index.ts'

export default jsonProtocol({
  name: 'jimiphoto',
  devices: 'Jimi IoT JC400, JC450 and other cameras',
  acknowledges: 'fixes',
  http: { port: 5267 },
  content: (body) => parseJson(partOf(body, 'callbackBody')),
  device: 'imei',
  fix: { timeOrArrival: 'alarmTime', latitude: 'lat', longitude: 'lng' },
  none: 'photo',
  answer({ localFileName: name }) {
    const data = typeof name === 'string' || typeof name === 'number' ? String(name) : ''
    return JSON.stringify({ code: 200, message: 'the high success', data })
  },
})

const BLANK_LINE = '\r\n\r\n'

/** The content of a part of multipart/form-data. @throws DecodeError `malformed` where it is missing. */
function partOf(body: Buffer, name: string): string {
  const head = body.indexOf(`name="${name}"`)
  const start = head < 0 ? -1 : body.indexOf(BLANK_LINE, head)
  const end = start < 0 ? -1 : body.indexOf('\r\n--', start + BLANK_LINE.length)
  if (end < 0) throw new DecodeError('malformed', `${name} is missing`)
  return body.toString('utf8', start + BLANK_LINE.length, end)
}
