/*
 * Aquila tracking devices (iTriangle, India). No specification is known: inferred from frames; the third kind is that of
 * the Indian standard AIS 140 (ARAI). TCP, text, lines:
 *
 *   $$c_v,I,e,Y,O,YYMMDDhhmmss,A,g,S,o,C[,s,P],…,i,…*XX     position; where P has a fraction, s and P are satellites and HDOP
 *   $$c_v,I,e,Y,O,YYMMDDhhmmss,A,g,…*XX                 short position
 *
 *   $k,v,w,t,a,L,I,r,f,DDMMYYYY,hhmmss,Y,N,O,E,S,C,s,H,p,P,o,i,m,V,B,…     AIS 140; f  1: fixed, a  alert, i  ignition,
 *                                                                m  main power, V and B  volts of it and of the battery
 *   $k,EMR|SEM,I,t,DDMMYYYYhhmmss,A,Y,N,O,E,H,S,…                emergency of AIS 140
 *
 *   I  id        Y, O  decimal degrees     S  km/h          X  XOR of all before *
 *   e  event     A  A: valid, V: not       C  degrees
 *
 * Of the first kind, i is the ignition, in the 13th field behind C or the 15th behind P, as several frames show. Its voltages
 * have units that differ between devices and are not read. Nothing is answered.
 */
import { type Draft, dop, textProtocol } from '../kit/index.ts'

const PLACE = '$${any},{id},{event},{lat},{lon},{ymd}{hhmmss},{valid}'

/** Alerts of AIS 140. */
const ALERTS = {
  3: 'power_cut',
  4: 'low_battery',
  6: 'power_restored',
  9: 'tampering',
  10: 'sos',
  16: 'tampering',
} as const

export default textProtocol({
  name: 'aquila',
  devices: 'Aquila trackers',
  integrity: { sum: 'xor', from: 0, to: '*', digits: 2, optional: true },
  port: 5089,
  fields: {
    event: { like: '\\d+' },
    emergency: { like: 'EMR|SEM', alarms: { EMR: 'sos' } },
    alert: { alarms: ALERTS },
    live: { like: '[A-Z]' },
    operator: {},
    mains: {},
    fixed: { like: '\\d', read: (text: string, draft: Draft) => void (draft.valid = text === '1') },
    dilution: { like: '\\d+\\.\\d+', read: (text: string, draft: Draft) => void (draft.hdop = dop(+text)) },
  },
  lines: [
    { like: `${PLACE},{any},{speedKmh},{any},{course},{satellites},{dilution},{any:14},{ignition},{any}` },
    { like: `${PLACE},{any},{speedKmh},{any},{course},{satellites},{dilution},{any}` },
    { like: `${PLACE},{any},{speedKmh},{any},{course},{any:12},{ignition},{any}` },
    { like: `${PLACE},{any},{speedKmh},{any},{course},{any}` },
    { like: `${PLACE},{any}` },
    { like: '$${any},{id},{any}', unknown: 'type' },
    {
      like: '${any:4},{alert},{live},{imei},{any},{fixed},{ddmmyyyy},{hhmmss},{lat},{ns},{lon},{ew},{speedKmh},{course},{satellites},{altitude},{any},{hdop}[,{operator}[,[{ignition}][,{mains}[,{externalVolts}[,{batteryVolts}[,{any}]]]]]]',
    },
    {
      like: '${any},{emergency},{imei},{any},{ddmmyyyy}{hhmmss},{valid},{lat},{ns},{lon},{ew},{altitude},{speedKmh}[,{any}]',
    },
    { like: '${any},{any}', unknown: 'type' },
  ],
})
