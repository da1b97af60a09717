/*
 * TK103: Xexun, Kingneed and Goome trackers and clones. "GPRS communication protocol" (KX402), TCP and UDP, no checksum.
 * A frame is in parentheses:
 *
 *   (I BP00 … HSO)                                handshake; answer (I AP01HSO)
 *   (I BP05 M DAYNOESSSSSTCCCCCC …)               login with a position, or with cells; answer (I AP05)
 *   (I BR00 DAYNOESSSSSTCCCCCC …)                 position; BR01 … alike, BO01 with the digit of an alarm before D
 *   (I BQ81,ALARM,…,DAYNOESSSSSTCCCCCC,…)         alarm, BP02,G,2,… alike
 *   (I,ZC13,d,A,YN,OE,S,T,C[,…])                  position of other makers: BP05, DW30, DW3B … alike
 *   (I BZ00,…)   (I,ZC20,…) …                     no position: cells, battery, networks, notices
 *
 *   I  id, 11 to 15 digits      A  A: valid, V: not           SSSSS   km/h         M  IMEI
 *   D  YYMMDD, d  DDMMYY        YN, OE  ddmm.mmmm, letter     CCCCCC  degrees      T  hhmmss
 *
 * Clones fill a short id and M up with NUL or blanks.
 */
import { textProtocol } from '../kit/index.ts'
import { frameLength } from './framing.ts'

const PLACE = '{ymd}{valid}{latNmea}{ns}{lonNmea}{ew}{speedKmh:5}{hhmmss}{course:6}{any}'

export default textProtocol({
  name: 'tk103',
  devices: 'Xexun TK103, Kingneed TK103, Goome GM, TLT and clones',
  acknowledges: 'some',
  port: 5002,
  transports: ['tcp', 'udp'],
  frame: frameLength,
  fields: {
    id: { like: '\\d{9,17} *' },
    digit: { like: '\\d' },
    digits: { like: '\\d\\d' },
    phone: { like: '\\d{15} *|\\d{10} *|\\d{11} *|\\d{12} *|\\d{13} *|\\d{14} *|\\d{16} *|' },
    event: { like: 'BQ81,[^,]*,[^,]*,[^,]*,|BP02,[^,]*,[^,]*,' },
    code: { like: 'B[A-Z]\\d\\d' },
    state: { like: 'BS50|BS51|BV00|BZ00' },
    notice: { like: 'DW50|DW5B|ZC03|ZC20' },
    letters: { like: '[A-Z0-9]{4}' },
    rest: { like: '[^\\d ][^]*|' },
  },
  lines: [
    { like: `({id}BR{digits}${PLACE})` },
    { like: `({id}BP05{phone}${PLACE})`, answer: '({id}AP05)' },
    { like: `({id}BO{digits}{digit}${PLACE})` },
    { like: '({id},{letters},{dmy},{valid},{latNmea}{ns},{lonNmea}{ew},{speedKmh},{hhmmss}[,{course}[,{any}]])' },
    { like: `({id}{event}${PLACE})` },
    { like: `({id}{code}[,{any},[{any},[{any},[{any},]]]]${PLACE})` },
    { like: '({id}BP05{any}', none: 'cells', answer: '({id}AP05)' },
    { like: '({id}BP00{any}', none: 'login', answer: '({id}AP01HSO)' },
    { like: '({id}{state}{any}', none: 'status' },
    { like: '({id},{notice}{any}', none: 'status' },
    { like: '({id}{rest}', unknown: 'type' },
  ],
})
