/*
 * Freedom PT-9, PT-10. No specification is known: inferred from frames. TCP, lines:
 *
 *   IMEI,I,YYYY/MM/DD, hh:mm:ss, N, Lat:Y, E, Lon:O, Spd:S
 *
 *   I  IMEI     Y, O  ddmm.mmmm     S  knots     Nothing is answered.
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'freedom',
  devices: 'Freedom PT-9, PT-10',
  port: 5066,
  lines: [
    {
      like: 'IMEI,{imei},{yyyy}/{month}/{day}, {hour}:{minute}:{second}, {ns}, Lat:{latNmea}, {ew}, Lon:{lonNmea}, Spd:{speedKnots}[,{any}]',
    },
    { like: 'IMEI,{imei},{any}', unknown: 'type' },
  ],
})
