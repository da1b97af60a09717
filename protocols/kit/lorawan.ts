import { decodedFixes } from './decoded.ts'
import { DecodeError } from './errors.ts'
import type { HttpRequest, Message, Session } from './protocol.ts'
import { type JsonObject, objectOf, parseJson } from './text.ts'
import { rfc3339, unixTime } from './units.ts'
import { jsonBody, objectMember, textMember } from './web.ts'

/** One event of a LoRaWAN network server about a device. */
interface NetworkEvent {
  readonly device: string
  /** What the payload formatter has made of the payload; undefined: nothing, or the event is no uplink. */
  readonly payload?: JsonObject
  /** Whether it has a payload that no formatter has read. */
  readonly isUnread: boolean
  /** When the network received it: RFC 3339, or unix milliseconds. */
  readonly received: unknown
}

/**
 * Reads a webhook of a LoRaWAN network server: The Things Stack, ChirpStack or Helium, drawn in protocols/ttnhttp.
 * @throws DecodeError of anything else.
 */
export function lorawanUplink(webhook: HttpRequest, session: Session): Message {
  const body = objectOf(jsonBody(webhook), 'the body')
  const event = thingsStack(body) ?? chirpStack(body) ?? helium(body)
  if (!event) throw new DecodeError('malformed', 'no id of a device: end_device_ids, deviceInfo, devEUI or dev_eui')
  const { device, payload, received, isUnread } = event
  const read = payload ? decodedFixes(payload, timeOf(received) ?? session.now) : { fixes: [], said: undefined }
  // A payload without a formatter may be a position.
  if (read.fixes.length > 0 || isUnread) return { device, ...read }
  return { device, none: 'no place', said: read.said }
}

function thingsStack(body: JsonObject): NetworkEvent | undefined {
  const device = textMember(objectMember(body, 'end_device_ids'), 'device_id')
  if (device === undefined) return undefined
  const uplink = objectMember(body, 'uplink_message')
  return {
    device,
    ...payloadOf(uplink.decoded_payload, uplink.frm_payload),
    received: uplink.received_at ?? body.received_at,
  }
}

/** Version 4; version 3 where `devEUI` stands in the body itself, with the object also as text. */
function chirpStack(body: JsonObject): NetworkEvent | undefined {
  const device = textMember(objectMember(body, 'deviceInfo'), 'devEui') ?? eui(textMember(body, 'devEUI'))
  if (device === undefined) return undefined
  const text = textMember(body, 'objectJSON')
  return {
    device,
    ...payloadOf(text === undefined ? body.object : parseJson(text), body.data),
    received: body.time ?? body.publishedAt,
  }
}

/** 16 hexadecimal digits, or base64 of the 8 bytes, as version 3 of ChirpStack writes them by default. */
function eui(text: string | undefined): string | undefined {
  return text?.length === 12 ? Buffer.from(text, 'base64').toString('hex') : text
}

function helium(body: JsonObject): NetworkEvent | undefined {
  const device = textMember(body, 'dev_eui')
  if (device === undefined) return undefined
  return { device, ...payloadOf(objectMember(body, 'decoded').payload, body.payload), received: body.reported_at }
}

function payloadOf(decoded: unknown, raw: unknown): Pick<NetworkEvent, 'payload' | 'isUnread'> {
  if (typeof decoded === 'object' && decoded !== null) return { payload: decoded as JsonObject, isUnread: false }
  return { isUnread: typeof raw === 'string' && raw !== '' }
}

function timeOf(received: unknown): number | undefined {
  if (typeof received === 'number') return unixTime(received)
  return typeof received === 'string' ? rfc3339(received) : undefined
}
