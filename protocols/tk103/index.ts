/*
 * TK103: Xexun, Kingneed and Goome trackers and clones. "GPRS communication protocol" (KX402), TCP and UDP, no checksum.
 * A frame is in parentheses:
 *
 *   (I BP00 … HSO)                                handshake; answer (I AP01HSO)
 *   (I BP05 M DAYNOESSSSSTCCCCCC …)               login with a position, or with cells; answer (I AP05)
 *   (I BR00 DAYNOESSSSSTCCCCCCPIxxxxxxL…)         position; BR01 …, and BP03 with M, alike
 *   (I BO01 a DAYNOE…)                            alarm; answer (I AS01 a)
 *   (I BQ81,ALARM,…,DAYNOESSSSSTCCCCCC,…)         alarm, BP02,G,2,… alike
 *   (I,ZC13,d,A,YN,OE,S,T,C[,…])                  position of other makers: BP05, DW30, DW3B … alike
 *   (I,ZC20,d,T,l,b,e,…)                          battery: l of 6 levels, b and e (from outside) in 0.01 and 0.1 V
 *   (I BZ00,…,PIxxxxxx)   (I,ZC03,…) …            no position: cells, networks, notices
 *
 *   I  id, mostly digits        A  A: valid, V: not           SSSSS   km/h         M  IMEI
 *   D  YYMMDD, d  DDMMYY        YN, OE  ddmm.mmmm, letter     CCCCCC  degrees      T  hhmmss
 *
 *   P  0: the vehicle's power charges the battery; 1: it is off    I  ignition     a  0 power cut, 1 accident, 2 SOS, …
 *
 * What P means for the battery, and ZC13 (power cut) and ZC20, are inferred from frames. Clones fill a short id and M up with NUL or
 * blanks.
 */
import { type Draft, textProtocol } from '../kit/index.ts'
import { frameLength } from './framing.ts'

const UNKNOWN = '65535'
const PLACE = '{ymd}{valid}{latNmea}{ns}{lonNmea}{ew}{speedKmh:5}{hhmmss}{course:6}{state}'

export default textProtocol({
  name: 'tk103',
  devices: 'Xexun TK103, Kingneed TK103, Goome GM, TLT and clones',
  acknowledges: 'some',
  port: 5002,
  transports: ['tcp', 'udp'],
  frame: frameLength,
  fields: {
    id: { like: '\\d{9,17} *|[0-9A-Za-z]{12}|[0-9A-Za-z]{15}' },
    number: { like: '\\d{9,17} *', read: (text, draft) => void (draft.device = text) },
    alarm: { like: '\\d', alarms: { 0: 'power_cut', 1: 'accident', 2: 'sos' } },
    state: { read: readState },
    input: {
      like: '\\d+',
      read: (text, draft) => draft.says({ external_voltage: text === UNKNOWN ? undefined : +text / 10 }),
    },
    level: { like: '\\d', read: (text, draft) => draft.says({ battery_percent: text === '6' ? 100 : undefined }) },
    digits: { like: '\\d\\d' },
    phone: { like: '\\d{15} *|\\d{10} *|\\d{11} *|\\d{12} *|\\d{13} *|\\d{14} *|\\d{16} *|[0-9A-Za-z]{15}|' },
    event: { like: 'BQ81,[^,]*,[^,]*,[^,]*,|BP02,[^,]*,[^,]*,' },
    code: { like: 'B[A-Z]\\d\\d' },
    status: { like: 'BS50|BS51|BV00|BZ00' },
    notice: { like: 'DW50|DW5B|ZC03|ZC20' },
    letters: { like: '[A-Z0-9]{4}', alarms: { ZC13: 'power_cut' } },
    rest: { like: '[^\\d ][^]*|' },
  },
  lines: [
    { like: `({id}BR{digits}${PLACE})` },
    { like: `({id}BP05{phone}${PLACE})`, answer: '({id}AP05)' },
    { like: `({id}BO{digits}{alarm}${PLACE})`, answer: '({id}AS01{alarm})' },
    {
      like: '({id},{letters},{dmy},{valid},{latNmea}{ns},{lonNmea}{ew},{speedKmh},{hhmmss}[,{course}[,{state}]])',
    },
    { like: `({id}{event}${PLACE})` },
    { like: `({id}{code}[,{any},[{any},[{any},[{any},]]]]${PLACE})` },
    { like: `({id}{code}{phone}${PLACE})` },
    { like: '({id}BP05{state}', none: 'cells', answer: '({id}AP05)' },
    { like: '({id}BP00{any}', none: 'login', answer: '({id}AP01HSO)' },
    { like: '({id}{status}{state}', none: 'status' },
    { like: '({id},ZC20,{dmy},{hhmmss},{level},{batteryVolts/100},{input},{any}', none: 'status' },
    { like: '({id},{notice}{any}', none: 'status' },
    { like: '({number}{rest}', unknown: 'type' },
    { like: '({id},{letters},{any}', unknown: 'type' },
    { like: '({id}{code}{any}', unknown: 'type' },
  ],
})

/** What follows the course: eight digits of state, the letter L and the odometer. A frame without a position ends with the state. */
function readState(text: string, draft: Draft): void {
  const state = STATE.exec(text)?.[0]
  if (state === undefined) return
  draft.says({ ignition: state[1] === '1' })
  if (state.startsWith('0')) draft.says({ charging: true })
}

const STATE = /^[01]{2}[\dA-F]{6}(?=[L,)]|$)|(?<=,)[01]{2}[\dA-F]{6}(?=\)$)/
