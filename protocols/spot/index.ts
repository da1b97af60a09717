/*
 * SPOT Trace, SPOT Gen3, SPOT X: "SPOT XML feed v2" (share.findmespot.com/shared/schema/spotXml-v2.xsd), pushed over HTTP.
 *
 *   <messageList …> <message> <esn>E</esn> <timestamp>T</timestamp> <latitude>A</latitude> <longitude>O</longitude> … </message> …
 *
 *   E  serial number of the device     T  RFC 3339      A, O  degrees      200 acknowledges all messages
 *   messageType HELP: its button, for help by friends; NEWMOVEMENT: it has been moved; batteryState LOW
 */
import {
  alarmsOf,
  bodyText,
  DecodeError,
  eachReadable,
  type Fix,
  type HttpRequest,
  type Message,
  number,
  type Protocol,
  rfc3339,
  said,
  xmlElements,
  xmlText,
} from '../kit/index.ts'

export default {
  name: 'spot',
  devices: 'SPOT Trace, SPOT Gen3, SPOT X',
  acknowledges: 'fixes',
  http: { port: 5156 },
  request,
} satisfies Protocol

function request(report: HttpRequest): Message {
  const xml = bodyText(report)
  if (!xml.includes('<messageList')) throw new DecodeError('unsupported', 'the body has no <messageList>')
  const { good, unreadable } = eachReadable(xmlElements(xml, 'message'), messageOf)
  if (good.length === 0) return { none: 'no place' }
  const ids = new Set(good.map(({ esn }) => esn))
  const fixes = good.map(({ esn, fix }) => (ids.size > 1 ? { ...fix, device: esn } : fix))
  return { device: ids.size > 1 ? undefined : good[0].esn, fixes, unreadable }
}

function messageOf(xml: string): { esn: string; fix: Fix } {
  const esn = xmlText(xml, 'esn')
  if (esn === '') throw new DecodeError('malformed', 'esn is missing')
  const fix = {
    time: rfc3339(xmlText(xml, 'timestamp')),
    latitude: number(xmlText(xml, 'latitude')),
    longitude: number(xmlText(xml, 'longitude')),
    valid: true,
    said: said({
      alarms: alarmsOf(
        xmlText(xml, 'messageType') === 'HELP' && 'sos',
        xmlText(xml, 'messageType') === 'NEWMOVEMENT' && 'movement',
        xmlText(xml, 'batteryState') === 'LOW' && 'low_battery',
      ),
    }),
  }
  return { esn, fix }
}
