/*
 * Topflytech T8801, T8802, with lines like those of TK103. No specification is known: inferred from frames.
 *
 *   (IIIIIIIIIIIIIIIKKKKXG00b600000000L00074b54S00000000R0C0F0014000100f0DDDDDDTTTTTTvAAAA.AAAAhOOOOO.OOOOhSSS.SG…)
 *
 *   I  IMEI         A, O  ddmm.mmmm, dddmm.mmmm     S  speed, km/h (a guess)     G  heading
 *   D, T  yymmdd, hhmmss     v  A: a fix            K  kind: BP00, BR00     between K and D: 49 characters of state
 */
import { between, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'topflytech',
  devices: 'Topflytech T8801, T8802',
  port: 5047,
  frame: between('(', ')'),
  ends: ')',
  fields: { state: { like: 'B[A-Z]\\d\\d[0-9A-Za-z]{49}' } },
  lines: [
    {
      like: '({imei}{state}{ymd}{hhmmss}{valid}{latNmea}{ns}{lonNmea}{ew}{speedKmh:5}{course}',
      none: 'no place',
    },
    { like: '({imei}{any}', unknown: 'type' },
  ],
})
