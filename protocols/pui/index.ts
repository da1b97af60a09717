/*
 * PUI (Position Universal) trackers: JSON over MQTT. No specification is known: inferred from a publication. The vendor's topics
 * name the device; here it is devices/<id>/pui, and the `id` of the payload is not read, because it may differ.
 *
 *   { "ts", "rpt", "location": { "lat", "lon" }?, "bear"?, "spd"?, … }
 *
 *   ts  RFC 3339 of the report      rpt  kind of the report      bear  degrees      spd  cm/s
 */
import {
  DecodeError,
  heading,
  known,
  type Message,
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
  name: 'pui',
  devices: 'Position Universal trackers',
  acknowledges: 'fixes',
  decode,
} satisfies Protocol

function decode(frame: Buffer): Message {
  const report = objectOf(parseJson(frame.toString()), 'the payload')
  const place = objectMember(report, 'location')
  const latitude = numericMember(place, 'lat')
  const longitude = numericMember(place, 'lon')
  if (latitude === undefined || longitude === undefined) return { none: 'no place' }
  const time = textMember(report, 'ts')
  if (time === undefined) throw new DecodeError('malformed', 'ts is missing')
  const speed = known(optionalNumberOf(report, 'spd'))
  return {
    fixes: [
      {
        time: rfc3339(time),
        latitude,
        longitude,
        valid: true,
        speed: speed === undefined ? undefined : speed / 100,
        heading: heading(optionalNumberOf(report, 'bear')),
      },
    ],
  }
}
