/*
 * YWT trackers. No specification is known: inferred from frames. TCP, lines:
 *
 *   %RP,I:n,YYMMDDhhmmss,EO,NY,H,S,C,s,x,…     position; GP, KP (after a command) alike; answer to KP: %AT+KP=n
 *   %SN,I:…                                    serial number; answer: %AT+SN=:…
 *
 *   I  id     n  kind     Y, O  decimal degrees behind the hemisphere     H  metres     S  km/h     C  degrees     s  satellites
 */
import { textProtocol } from '../kit/index.ts'

const PLACE = '{id}:{kind},{ymd}{hhmmss},{ew}{lon},{ns}{lat},{altitude},{speedKmh},{course},{satellites}[,{any}]'

export default textProtocol({
  name: 'ywt',
  devices: 'YWT trackers',
  acknowledges: 'some',
  port: 5035,
  fields: { kind: { like: '\\d+' }, rest: {} },
  lines: [
    { like: `%RP,${PLACE}` },
    { like: `%GP,${PLACE}` },
    { like: `%KP,${PLACE}`, answer: '%AT+KP={kind}\r\n' },
    { like: '%SN,{id}:{rest}', none: 'login', answer: '%AT+SN=:{rest}' },
    { like: '%{any}', unknown: 'type' },
  ],
})
