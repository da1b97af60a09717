/*
 * TeraTrack electronic locks. No specification is known: inferred from frames. TCP, JSON objects, all values text:
 *
 *   {"MDeviceID":"I","DateTime":"YYYY-MM-DD hh:mm:ss","Latitude":"Y","Longitude":"O","Speed":"S","MessageAck":"1",…}
 *
 *   I  id     Y, O  decimal degrees, signed     S  km/h
 *
 * Answer where MessageAck is not 0: {01}
 */
import {
  jsonObjects,
  kmh,
  type Message,
  numericMember,
  objectOf,
  optionalNumberOf,
  parseJson,
  type Protocol,
  rfc3339,
  textMember,
} from '../kit/index.ts'

export default {
  name: 'teratrack',
  devices: 'TeraTrack electronic locks',
  acknowledges: 'fixes',
  tcp: { port: 5239, frame: jsonObjects() },
  decode,
} satisfies Protocol

function decode(frame: Buffer): Message {
  const lock = objectOf(parseJson(frame.toString()), 'the message')
  const device = textMember(lock, 'MDeviceID')
  const time = textMember(lock, 'DateTime')
  const latitude = numericMember(lock, 'Latitude')
  const longitude = numericMember(lock, 'Longitude')
  const reply = textMember(lock, 'MessageAck') === '0' ? undefined : Buffer.from('{01}')
  if (time === undefined || latitude === undefined || longitude === undefined) return { device }
  const speed = optionalNumberOf(lock, 'Speed')
  const fix = {
    time: rfc3339(time.replace(' ', 'T')),
    latitude,
    longitude,
    valid: true,
    speed: speed === undefined ? undefined : kmh(speed),
  }
  return { device, fixes: [fix], reply }
}
