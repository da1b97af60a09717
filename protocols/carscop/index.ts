/*
 * Carscop CCTR-800 and others. No specification is known: inferred from frames. TCP, text that ends with ^:
 *
 *   *YYMMDDhhmmssUB05IIIIIIIIIIIIIIIhhmmssAYYYY.YYYYNOOOOO.OOOOESSSSSYYMMDDCCCCCC…^     login with a position
 *   *YYMMDDhhmmssUD00hhmmssA…^     *YYMMDDhhmmssUA01rhhmmssA…^                          position, alarm with its reason r
 *   *YYMMDDhhmmssUB00HSO^                                                               heartbeat
 *
 *   I  id     A  A: valid, V: not     Y, O  ddmm.mmmm     S  km/h, five characters     C  degrees, six     date and time of the fix
 *
 * Nothing is answered. That the speed is in km/h is a guess: the TK103 family, which it resembles, has that.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

const PLACE = '{hhmmss}{valid}{latNmea:9}{ns}{lonNmea:10}{ew}{speedKmh:5}{ymd}{course:6}{any}'

export default textProtocol({
  name: 'carscop',
  devices: 'Carscop CCTR-620, CCTR-800 and others',
  port: 5040,
  frame: endsWith('^'),
  ends: '^',
  fields: {
    sent: { like: '\\d{12}' },
    id: { like: '[0-9A-Za-z]{15}' },
    code: { like: 'U[A-Z]\\d\\d' },
    reason: { like: '\\d[A-Za-z -]+' },
  },
  lines: [
    { like: `*{sent}UB05{id}${PLACE}` },
    { like: `*{sent}{code}${PLACE}` },
    { like: `*{sent}{code}{reason}${PLACE}` },
    { like: '*{sent}{code}HSO', none: 'heartbeat' },
    { like: '*{sent}{any}', unknown: 'type' },
  ],
})
