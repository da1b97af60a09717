/*
 * Globalstar SmartOne, STX2, STX3 and AtlasTrax: the simplex messages that the Globalstar back office forwards over HTTP, as
 * XML ("StuMessage", cody.glpconnect.com/XSD) or as JSON.
 *
 *   <stuMessages messageID="M"> <stuMessage> <esn>E</esn> <unixTime>T</unixTime> … <payload …>0xPPPP…</payload> …
 *   { "entry": { "devices": [{ "gpsCoordinate": { "latitude", "longitude" }, "deviceIdentify": { "esn", "unixTime" },
 *                              "deviceInfo": { "gpsDataValid": "Valid" | "Invalid" } }] } }
 *
 *   E  serial number of the device     T  unix seconds     P  9 bytes: ff AAAAAA OOOOOO ii ss
 *   f  bits 0–1 type: 0 position, 1 and 2 of the user, 3 diagnosis; bit 3: no fix
 *   A, O  latitude in 90/2^23, longitude in 180/2^23 degrees, signed
 *
 * The answer names M; the back office sends again what is not answered with <state>pass</state>.
 */
import {
  bodyText,
  ByteReader,
  DecodeError,
  eachReadable,
  type Fix,
  holdsPlace,
  type HttpRequest,
  jsonBody,
  type JsonObject,
  type Message,
  number,
  numericMember,
  objectMember,
  objectOf,
  type Protocol,
  type Session,
  textMember,
  unixTime,
  xmlElements,
  xmlText,
} from '../kit/index.ts'

export default {
  name: 'globalstar',
  devices: 'Globalstar SmartOne, STX2, STX3, AtlasTrax',
  acknowledges: 'fixes',
  http: { port: 5185 },
  request,
} satisfies Protocol

/** What one entry says: no fix and no reason where its payload is not known. */
interface Entry {
  readonly esn: string
  readonly fix?: Fix
  readonly none?: string
}

function request(report: HttpRequest, session: Session): Message {
  const text = bodyText(report)
  if (text.trimStart().startsWith('{')) {
    const answer = { headers: { 'content-type': 'application/json' }, body: '{"status":"ok"}' }
    const { good, unreadable } = eachReadable(
      jsonDevices(report),
      (each) => jsonEntry(objectOf(each, 'a device')),
      ({ fix }, each) => !fix && holdsPlace(each),
    )
    return { ...messageOf(good), unreadable, response: answer }
  }
  const id = /<stuMessages\s[^<>]{0,2000}?messageID="([^"<>&]{0,100})"/.exec(text)?.[1]
  if (id === undefined) throw new DecodeError('unsupported', 'the body has no <stuMessages>')
  const { good, unreadable } = eachReadable(xmlElements(text, 'stuMessage'), xmlEntry)
  return { ...messageOf(good), unreadable, response: passed(id, session.now) }
}

function messageOf(entries: readonly Entry[]): Message {
  const ids = new Set(entries.map(({ esn }) => esn))
  const device = ids.size === 1 ? entries[0].esn : undefined
  const fixes = entries.flatMap(({ esn, fix }) => (fix ? [ids.size > 1 ? { ...fix, device: esn } : fix] : []))
  if (fixes.length > 0) return { device, fixes }
  return {
    device,
    none: entries.every(({ none }) => none !== undefined) ? (entries[0]?.none ?? 'no place') : undefined,
  }
}

const HAS_NO_FIX = 0x08

function xmlEntry(xml: string): Entry {
  const esn = xmlText(xml, 'esn')
  if (esn === '') throw new DecodeError('malformed', 'esn is missing')
  const time = unixTime(number(xmlText(xml, 'unixTime')))
  const [payload = ''] = xmlElements(xml, 'payload')
  const r = new ByteReader(Buffer.from(payload.trim().replace(/^0x/i, ''), 'hex'))
  const flags = r.u8()
  if ((flags & 3) === 3) return { esn, none: 'status' }
  if ((flags & 3) !== 0) return { esn }
  const latitude = (r.i24() * 90) / 2 ** 23
  const longitude = (r.i24() * 180) / 2 ** 23
  return { esn, fix: { time, latitude, longitude, valid: (flags & HAS_NO_FIX) === 0 } }
}

function jsonDevices(report: HttpRequest): readonly unknown[] {
  const { devices } = objectMember(objectOf(jsonBody(report), 'the body'), 'entry')
  if (!Array.isArray(devices)) throw new DecodeError('malformed', 'entry.devices is missing')
  return devices
}

function jsonEntry(entry: JsonObject): Entry {
  const identity = objectMember(entry, 'deviceIdentify')
  const esn = textMember(identity, 'esn')
  const seconds = numericMember(identity, 'unixTime')
  if (esn === undefined || seconds === undefined) throw new DecodeError('malformed', 'esn or unixTime is missing')
  const place = objectMember(entry, 'gpsCoordinate')
  const latitude = numericMember(place, 'latitude')
  const longitude = numericMember(place, 'longitude')
  if (latitude === undefined || longitude === undefined) return { esn, none: 'no fix' }
  const valid = objectMember(entry, 'deviceInfo').gpsDataValid !== 'Invalid'
  return { esn, fix: { time: unixTime(seconds), latitude, longitude, valid } }
}

function passed(id: string, now: number): Message['response'] {
  const at = new Date(now).toISOString()
  const time = `${at.slice(8, 10)}/${at.slice(5, 7)}/${at.slice(0, 4)} ${at.slice(11, 19)} UTC`
  const attributes = [
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"',
    `correlationID="${id}"`,
    `deliveryTimeStamp="${time}"`,
    `messageID="${'0'.repeat(32)}"`,
    'xsi:noNamespaceSchemaLocation="http://cody.glpconnect.com/XSD/StuResponse_Rev1_0.xsd"',
  ]
  const content = '<state>pass</state><stateMessage>Store OK</stateMessage>'
  return {
    headers: { 'content-type': 'text/xml' },
    body: `<?xml version="1.0" encoding="UTF-8" standalone="no"?><stuResponseMsg ${attributes.join(' ')}>${content}</stuResponseMsg>`,
  }
}
