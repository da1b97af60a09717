/*
 * GPS103: Coban TK102, TK103, TK303, GPS103 … and their clones. "GPS tracker communication protocol" (Coban), TCP and UDP,
 * no checksum. A line ends with ; * or a line feed:
 *
 *   ##,imei:I,A;                                     login; answer LOAD
 *   I;                                               heartbeat; answer ON
 *   imei:I,E,L,p,F,T,A,Y,N,O,E,S[,C[,H[,a[,…]]]];    position; the answer to the event "help me" is **,imei:I,E;
 *   imei:I,E,L,p,L,…;                                no fix: cells
 *   imei:I,OBD,L, 9 fields, V,…;                     no position; V: vehicle's battery, V
 *   imei:I,E,---,------,----,T,D,r,q,Y,O,S,C,H,d,s,a,c,…*     position of another firmware: decimal degrees, S in km/h
 *
 *   I  IMEI                              T  UTC, hhmmss.sss           S  knots         d  HDOP
 *   E  event: tracker, help me …         A  A: valid, V: not          C  degrees       s  satellites
 *   L  device's time, YYMMDDhhmm[ss]     Y, O  ddmm.mmmm              H  metres        r  signal
 *   p  administrator's phone number      D  DDMMYY                    a  ignition      c  charging
 *      of the event rfid: the card       q  0, V: no fix
 *
 * Said: the ignition (a, or the events acc on and acc off), alarms by the event, the voltage of the vehicle in OBD. That S of the
 * other firmware is in km/h, and what its last fields mean, is inferred.
 * The date of a position is that of the device's own zone, the time of day is UTC: they are within half a day.
 */
import { type Alarm, type Draft, endsWith, type Fix, type Session, textProtocol, utcYmd } from '../kit/index.ts'

/** The keywords of the manual that raise an alarm of ours; `ac alarm` is that of the vehicle's power, `sensor alarm` of the shock sensor. */
const ALARMS: Readonly<Record<string, Alarm>> = {
  'help me': 'sos',
  'low battery': 'low_battery',
  'ac alarm': 'power_cut',
  'sensor alarm': 'vibration',
  'accident alarm': 'accident',
  move: 'movement',
}

const HEAD = 'imei:{id},{event},'
const PLACE = `${HEAD}{local},{phone},F,{hms},[{valid}],{latNmea},[{ns}],{lonNmea},[{ew}]`

export default textProtocol({
  name: 'gps103',
  devices: 'Coban TK102, TK103, TK106, TK303, GPS103, GPS403 and clones',
  port: 5001,
  transports: ['tcp', 'udp'],
  frame: endsWith(';', '*', '\n', '\r\n'),
  ends: ';*',
  fields: {
    event: {
      alarms: ALARMS,
      read(text, draft) {
        if (text === 'acc on' || text === 'acc off') draft.says({ ignition: text === 'acc on' })
      },
    },
    phone: {
      read(text, draft) {
        if (draft.text('event') === 'rfid') draft.says({ driver: text })
      },
    },
    acc: {
      read(text, draft) {
        if (text === '0' || text === '1') draft.says({ ignition: text === '1' })
      },
    },
    charge: {
      read(text, draft) {
        if (text === '0' || text === '1') draft.says({ charging: text === '1' })
      },
    },
    fixed: { like: '[AaVv\\d]', read: (text, draft) => void (draft.valid = !'0Vv'.includes(text)) },
    local: {},
    heartbeat: { like: '\\d{10,17}' },
    imei: { like: '\\d{10,17}' },
  },
  lines: [
    {
      like: `${HEAD}{local},{phone},[F],{hms},[{valid}],{latNmea},[{ns}],{lonNmea}[,[{ew}][,{speedKnots}[,{course}[,{altitude}[,{acc}[,{any}]]]]]]`,
      answer,
      fix,
    },
    {
      like: `${HEAD}{any:3},{hms},{dmy},{any},{fixed},{lat},{lon},{speedKmh},{course},{altitude},{hdop},{satellites}[,{acc}[,{charge}[,{any}]]]`,
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
    { like: `${HEAD}{any},{any},L[,{any}]`, none: 'no fix', answer },
    { like: 'imei:{id},L[,{any}]', none: 'no fix' },
    { like: 'imei:{id},OBD,{any:10},{externalVolts}[,{any}]', none: 'status' },
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
