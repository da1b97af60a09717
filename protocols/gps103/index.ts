/*
 * GPS103: Coban TK102, TK103, TK303, GPS103 … and their clones. "GPS tracker communication protocol" (Coban), TCP and UDP,
 * no checksum. A line ends with ; * or a line feed:
 *
 *   ##,imei:I,A;                                     login; answer LOAD
 *   I;                                               heartbeat; answer ON
 *   imei:I,E,L,p,F,T,A,Y,N,O,E,S[,C[,H[,…]]];        position; the answer to the event "help me" is **,imei:I,E;
 *   imei:I,E,L,p,L,…;                                no fix: cells
 *   imei:I,OBD,…;                                    no position
 *   imei:I,E,---,------,----,T,D,b,A,Y,O,S,C,H,d,s,…*     position of another firmware, in decimal degrees
 *
 *   I  IMEI                              T  UTC, hhmmss.sss           S  knots         d  HDOP
 *   E  event: tracker, help me …         A  A: valid, V: not          C  degrees       s  satellites
 *   L  device's time, YYMMDDhhmm[ss]     Y, O  ddmm.mmmm              H  metres        b  battery
 *   p  administrator's phone number      D  DDMMYY
 *
 * The date of a position is that of the device's own zone, the time of day is UTC: they are within half a day.
 */
import { type Draft, endsWith, type Fix, type Session, textProtocol, utcYmd } from '../kit/index.ts'

const HEAD = 'imei:{id},{event},'
const PLACE = `${HEAD}{local},{any},F,{hms},[{valid}],{latNmea},[{ns}],{lonNmea},[{ew}]`

export default textProtocol({
  name: 'gps103',
  devices: 'Coban TK102, TK103, TK106, TK303, GPS103, GPS403 and clones',
  port: 5001,
  transports: ['tcp', 'udp'],
  frame: endsWith(';', '*', '\n', '\r\n'),
  ends: ';*',
  fields: { event: {}, local: {}, heartbeat: { like: '\\d{10,17}' }, imei: { like: '\\d{10,17}' } },
  lines: [
    {
      like: `${HEAD}{local},{any},[F],{hms},[{valid}],{latNmea},[{ns}],{lonNmea}[,[{ew}][,{speedKnots}[,{course}[,{altitude}[,{any}]]]]]`,
      answer,
      fix,
    },
    {
      like: `${HEAD}{any:3},{hms},{dmy},{any},{valid},{lat},{lon},{speedKnots},{course},{altitude},{hdop},{satellites},{any}`,
    },
    {
      like: `${HEAD}{local},{any},F,{any},{valid},[{ns},]{latNmea},[{ns},][{ew},]{lonNmea},[{ew},]{speedKnots}[,{course}[,{altitude}[,{any}]]]`,
      answer,
      fix,
    },
    { like: `${PLACE}[,{speedKnots},{any}]`, answer, fix },
    { like: `${PLACE}[,{any}]`, answer, fix },
    { like: '##,imei:{id},{any}', none: 'login', answer: 'LOAD' },
    { like: '{imei}', none: 'heartbeat', answer: 'ON' },
    {
      like: `{heartbeat}${HEAD}{local},{any},F,{hms},[{valid}],{latNmea},[{ns}],{lonNmea},[{ew}],{speedKnots}[,{any}]`,
      answer: 'ON',
      fix,
    },
    { like: `${HEAD}{any},{any},L,{any}`, none: 'no fix', answer },
    { like: 'imei:{id},OBD,{any}', none: 'status' },
    { like: 'imei:{id},vr,{any}', none: 'photo' },
    { like: 'imei:{id},{any}', unknown: 'type' },
  ],
})

/** An emergency call is repeated until it is answered. */
function answer(draft: Draft): string | undefined {
  return draft.text('event') === 'help me' ? `**,imei:${draft.device},E;` : undefined
}

/** Year to minute, of a clock that was set. */
const DATE = /^\d\d(?!00)\d\d(?!00)\d{6,}$/

/** The time is the UTC time of day that is nearest to the device's local time; without it, that local time. */
function fix(draft: Draft, session: Session): Fix | undefined {
  const digits = draft.text('local').replace(/\D+/g, '')
  const local = DATE.test(digits) ? utcYmd(digits.slice(0, 12).padEnd(12, '0')) : session.now
  draft.time = draft.clock === undefined ? local : draft.timeBy(local)
  return draft.fix(session)
}
