/*
 * Hoopo trailer trackers. No specification is known: inferred from frames. JSON objects, one after the other:
 *
 *   {"deviceId":…,"eventData":{"latitude":…,"longitude":…,…},"movement":{"Speed":…},"eventTime":RFC 3339,…}
 *
 * Speed: knots (a guess). Nothing is answered.
 */
import {
  jsonObjects,
  knots,
  known,
  type Message,
  numberOf,
  numericMember,
  objectMember,
  objectOf,
  optionalNumberOf,
  parseJson,
  type Protocol,
  rfc3339,
  textMember,
} from '../kit/index.ts'

export default {
  name: 'hoopo',
  devices: 'Hoopo trackers',
  tcp: { port: 5231, frame: jsonObjects() },
  decode,
} satisfies Protocol

function decode(frame: Buffer): Message {
  const message = objectOf(parseJson(frame.toString()), 'the message')
  const device = textMember(message, 'deviceId')
  if (!('eventData' in message)) return { device }
  const event = objectMember(message, 'eventData')
  const latitude = numericMember(event, 'latitude')
  if (latitude === undefined) return { device, none: 'no place' }
  const speed = known(optionalNumberOf(objectMember(message, 'movement'), 'Speed'))
  const fix = {
    time: rfc3339(textMember(message, 'eventTime') ?? ''),
    latitude,
    longitude: numberOf(event, 'longitude'),
    valid: true,
    speed: speed === undefined ? undefined : knots(speed),
  }
  return { device, fixes: [fix] }
}
