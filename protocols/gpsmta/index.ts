/*
 * GPS Mobile Tracker for Android ("gpsmta"). The documentation of its app, UDP, text:
 *
 *   I T Y O S C a H x b x c x
 *
 *   I  id     T  unix seconds     Y, O  decimal degrees     S  knots     C  degrees     a  accuracy, metres     H  metres
 *   b  own battery, %     c  1: it is being charged; both are inferred from frames
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
      like: '{id} {unix} {lat} {lon} {speedKnots} {course} {accuracy} {altitude} {any} {batteryPercent} {any} {charging}[ {any}]',
      answer: (draft) => draft.text('unix'),
    },
    {
      like: '{id} {unix} {lat} {lon} {speedKnots} {course} {accuracy} {altitude}[ {any}]',
      answer: (draft) => draft.text('unix'),
    },
    { like: '{id} {any}', unknown: 'type' },
  ],
})
