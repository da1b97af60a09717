/*
 * MTX-Tunnel and other modems of MTX (Matrix). No specification is known: inferred from frames. TCP, lines:
 *
 *   #MTX,I,YYYYMMDD,hhmmss,Y,O,S,C,…
 *
 *   I  IMEI     Y, O  decimal degrees     S  km/h     C  degrees     Answer: #ACK
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'mtx',
  devices: 'MTX modems with GPS',
  acknowledges: 'fixes',
  port: 5083,
  lines: [
    { like: '#MTX,{imei},{yyyymmdd},{hhmmss},{lat},{lon},{speedKmh},{course}[,{any}]', answer: '#ACK' },
    { like: '#MTX,{imei}[,{any}]', unknown: 'type' },
  ],
})
