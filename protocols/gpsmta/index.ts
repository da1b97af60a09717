/*
 * GPS Mobile Tracker for Android ("gpsmta"). The documentation of its app, UDP, text:
 *
 *   I T Y O S C a H …
 *
 *   I  id     T  unix seconds     Y, O  decimal degrees     S  knots     C  degrees     a  accuracy, metres     H  metres
 *
 *   Answer: T
 */
import { textProtocol, whole } from '../kit/index.ts'

export default textProtocol({
  name: 'gpsmta',
  devices: 'GPS Mobile Tracker for Android',
  acknowledges: 'fixes',
  port: 5038,
  transports: ['udp'],
  frame: whole,
  lines: [
    {
      like: '{id} {unix} {lat} {lon} {speedKnots} {course} {accuracy} {altitude}[ {any}]',
      answer: (draft) => draft.text('unix'),
    },
    { like: '{id} {any}', unknown: 'type' },
  ],
})
