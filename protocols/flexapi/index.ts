/*
 * InHand VT3, VG710 and other gateways with FlexAPI: "FlexAPI reference for 3rd party platforms, TCP version". A line a message:
 *
 *   ${"topic":"v1/SERIAL/gnss/info","payload":{"time":…,"lat":…,"log":…,"gnss.altitude":…,…}}XX
 *
 * io.IGT is the ignition, obd.b_volt the battery of the vehicle. time: unix seconds; log: longitude; gnss.speed: km/h
 * (a guess); gnss.fix: 0 is none. XX is a CRC-16 of the JSON; it is not verified, since known frames hold "xx" in its
 * place. Nothing is answered.
 */
import { DecodeError, jsonProtocol, line, objectOf, parseJson, textMember } from '../kit/index.ts'

export default jsonProtocol({
  name: 'flexapi',
  devices: 'InHand VT310, VG710 and others with FlexAPI',
  tcp: { port: 5235, frame: line },
  content(frame) {
    const text = frame.toString()
    const end = text.lastIndexOf('}')
    if (!text.startsWith('${') || end < 0) throw new DecodeError('unsupported', 'the frame does not begin with ${')
    const message = objectOf(parseJson(text.slice(1, end + 1)), 'the message')
    const [version, device = '', subject = ''] = (textMember(message, 'topic') ?? '').split('/')
    if (version !== 'v1' || device === '') throw new DecodeError('unsupported', 'the topic is not one of version v1')
    return { device, subject, [subject]: message.payload }
  },
  device: 'device',
  fix: {
    time: 'gnss/time',
    latitude: 'gnss/lat',
    longitude: 'gnss/log',
    valid: 'gnss/gnss.fix',
    altitude: 'gnss/gnss.altitude',
    speedKmh: 'gnss/gnss.speed',
    course: 'gnss/gnss.heading',
    hdop: 'gnss/gnss.hdop',
    satellites: 'gnss/gnss.num_sv',
  },
  said: { ignition: 'io/io.IGT', external_voltage: 'obd/obd.b_volt' },
  none: ({ subject }) => (subject === 'gnss' ? 'no place' : STATES.has(String(subject)) ? 'status' : undefined),
})

/** Subjects of messages without a position. */
const STATES = new Set(['motion', 'obd', 'io', 'sysinfo', 'cellular', 'modem', 'j1939', 'battery', 'system'])
