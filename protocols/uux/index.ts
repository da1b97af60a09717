/*
 * UUX: vehicle trackers of car rental. No specification is known: inferred from frames. TCP, big-endian.
 *
 *   81 xx KK LL content
 *   content of 0C   xx id(10) MM DD hh mm ss battery… "A" nn ddmm.mmmmN dddmm.mmmmE SSS CCC …      position
 *   content of 8C   the same up to the time, and answers                                           no position
 *   content of 0B   FF: keep-alive
 *
 *   L  length of content      n  satellites, text      C  degrees      A  fix; S is a speed whose unit is not known
 *
 * The time has no year. Nothing is answered.
 */
import {
  ByteReader,
  degreesMinutes,
  heading,
  lengthField,
  type Message,
  number,
  type Protocol,
  type Session,
  withoutYearNear,
} from '../kit/index.ts'

export default {
  name: 'uux',
  devices: 'UUX',
  tcp: { port: 5225, frame: lengthField({ start: 0x81, at: 3, width: 1, add: 4 }) },
  decode,
} satisfies Protocol

const KEEP_ALIVE = 0x0b
const POSITION = 0x0c
const ANSWER = 0x8c
const PLACE = /([AV])(\d\d)(\d{4}\.\d{4})([NS])(\d{5}\.\d{4})([EW])\d{3}(\d{3})/

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame).skip(2)
  const kind = r.u8()
  if (kind === KEEP_ALIVE) return { none: 'heartbeat' }
  if (kind !== POSITION && kind !== ANSWER) return {}
  const device = r.skip(2).ascii(10)
  if (kind === ANSWER) return { device, none: 'command answer' }
  const [month, day, hour] = [r.u8(), r.u8(), r.u8()]
  const time = withoutYearNear([month, day, hour, r.u8(), r.u8()], session.now)
  const match = PLACE.exec(r.ascii(r.left))
  if (!match) return { device, none: 'no fix' }
  const [, valid, satellites, latitude, north, longitude, east, course] = match
  return {
    device,
    fixes: [
      {
        time,
        latitude: degreesMinutes(number(latitude)) * (north === 'S' ? -1 : 1),
        longitude: degreesMinutes(number(longitude)) * (east === 'W' ? -1 : 1),
        valid: valid === 'A',
        heading: heading(number(course)),
        satellites: number(satellites),
      },
    ],
  }
}
