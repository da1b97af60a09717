/*
 * InHand VT3, VG710 and other gateways with FlexAPI: "FlexAPI reference for 3rd party platforms, TCP version". A line a message:
 *
 *   ${"topic":"v1/SERIAL/gnss/info","payload":{"time":…,"lat":…,"log":…,"gnss.altitude":…,…}}XX
 *
 * time: unix seconds; log: longitude; gnss.speed: km/h (a guess); gnss.fix: 0 is none. XX is a CRC-16 of the JSON; it is not
 * verified, since known frames hold "xx" in its place. Nothing is answered.
 */
import {
  DecodeError,
  dop,
  type Fix,
  heading,
  type JsonObject,
  kmh,
  line,
  type Message,
  numberOf,
  numericMember,
  objectMember,
  objectOf,
  optionalNumberOf,
  parseJson,
  type Protocol,
  textMember,
  unixTime,
} from '../kit/index.ts'

export default {
  name: 'flexapi',
  devices: 'InHand VT310, VG710 and others with FlexAPI',
  integrity: { none: 'known frames hold "xx" in place of their CRC-16' },
  tcp: { port: 5235, frame: line },
  decode,
} satisfies Protocol

/** Subjects of messages without a position. */
const STATES = new Set(['motion', 'obd', 'io', 'sysinfo', 'cellular', 'modem', 'j1939', 'battery', 'system'])

function decode(frame: Buffer): Message {
  const text = frame.toString()
  const end = text.lastIndexOf('}')
  if (!text.startsWith('${') || end < 0) throw new DecodeError('unsupported', 'the frame does not begin with ${')
  const message = objectOf(parseJson(text.slice(1, end + 1)), 'the message')
  const [version, device = '', subject = ''] = (textMember(message, 'topic') ?? '').split('/')
  if (version !== 'v1' || device === '') throw new DecodeError('unsupported', 'the topic is not one of version v1')
  if (subject !== 'gnss') return { device, none: STATES.has(subject) ? 'status' : undefined }
  const payload = objectMember(message, 'payload')
  if (numericMember(payload, 'lat') === undefined) return { device, none: 'no place' }
  return { device, fixes: [position(payload)] }
}

function position(payload: JsonObject): Fix {
  const speed = optionalNumberOf(payload, 'gnss.speed')
  return {
    time: unixTime(numberOf(payload, 'time')),
    latitude: numberOf(payload, 'lat'),
    longitude: numberOf(payload, 'log'),
    valid: payload['gnss.fix'] !== 0,
    altitude: optionalNumberOf(payload, 'gnss.altitude'),
    speed: speed === undefined ? undefined : kmh(speed),
    heading: heading(optionalNumberOf(payload, 'gnss.heading')),
    hdop: dop(optionalNumberOf(payload, 'gnss.hdop')),
    satellites: optionalNumberOf(payload, 'gnss.num_sv'),
  }
}
