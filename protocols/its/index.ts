/*
 * Trackers of India's AIS 140 (iTriangle, Atlanta, RoadPoint, Traxsmart …). "AIS-140, Annexure: protocol of the vehicle location
 * tracking device", TCP, text. Makers write the head, the date and the end differently:
 *
 *   $[,]h,h,h,tt,[n,]L,I,r,f,DDMMYYYY,hhmmss,Y,N,O,E,S,C,s,H,p,P,…*     position; f behind the time, other dates
 *                       … P,network,i,m,V,B,e,T,…*                      what follows most positions
 *   $[,]…,EMR|SEM,I,kk,DDMMYYYYhhmmss,A,Y,N,O,E,H,S,…*                  emergency
 *   $,LGN,r,x,I,…*                                                      login; I is one of its six first fields; answer $LGNDDMMYYYYhhmmss*
 *   $,h,h,h,I,b,…     $,r,I,…                                           health, login without an answer
 *
 *   h  maker, firmware          L  L: live, H: from memory     f, A  1, A: valid               H  metres
 *   t  kind: NR, EA, TA, BR …   I  IMEI                        Y, O  decimal degrees           s  satellites
 *   n  number of the alert      r  registration                S  km/h     C  degrees          p, P  PDOP, HDOP
 *   i  ignition   m  1: external power   V, B  external, own battery, V   b  own battery, %
 *
 * Alarms by t: EA emergency (n 11: its end), TA and DT tampering, BD and BR battery of the vehicle off and on, BL its own is low;
 * and EMR. SEM ends an emergency.
 */
import { type Alarm, type Draft, EndSearch, type Session, type Stream, textProtocol } from '../kit/index.ts'

const ends = new EndSearch(['*', '\n', '$'])
const HEAD = '$[,]{any}[,{any}[,{any}]],{any},{type},[[{alert}],]{live},{unit}[,{any}]'
const POWER = ',{any},[{ignition}],{any},{externalVolts},{batteryVolts}'
const PLACE = `{lat},[{ns}],{lon},[{ew}],{speedKmh},{course},{satellites}[,{altitude}[,{any}[,{hdop}[${POWER}][,{any}]]]]`
const EMERGENCY = '$[,]{any}[,{any}],{emergency},{unit},{type}'
const EMERGENCY_PLACE = '[{valid}],{lat},[{ns}],{lon},[{ew}],{altitude},{speedKmh}[,{any}]'

export default textProtocol({
  name: 'its',
  devices: 'AIS 140: iTriangle, Atlanta, RoadPoint, Traxsmart',
  acknowledges: 'some',
  integrity: { none: 'each maker has another one, and some have none' },
  port: 5179,
  frame: frameLength,
  ends: '*',
  fields: {
    type: { like: '[A-Z]{2}', read: readType },
    unit: { like: '\\d{10,17}', read: (text: string, draft: Draft) => void (draft.device = text) },
    alert: { like: '[-\\da-zA-GI-KM-Z]*' },
    live: { like: '[LH]' },
    emergency: { like: 'EMR|SEM', alarms: { EMR: 'sos' } },
    percent: { like: '\\d{1,3}', read: (text: string, draft: Draft) => draft.says({ battery_percent: +text }) },
  },
  lines: [
    { like: '$[,]LGN,[{any},[{any},]]{unit}[,{any}]', none: 'login', answer: login },
    { like: '$[,]LGN,{any:3},[{any},[{any},]]{imei}[,{any}]', none: 'login', answer: login },
    { like: `${HEAD},[{valid}],{ddmmyyyy}[,]{hhmmss},${PLACE}` },
    { like: `${HEAD},[{valid}],{dmy},{hhmmss},${PLACE}` },
    { like: `${HEAD},[{valid}],{day},{month},{yyyy},{hour},{minute},{second},${PLACE}` },
    { like: `${HEAD},{ddmmyyyy}[,]{hhmmss},[{valid}],${PLACE}` },
    { like: `${EMERGENCY},{ddmmyyyy}[,]{hhmmss},${EMERGENCY_PLACE}` },
    { like: `${EMERGENCY},{day},{month},{yyyy},{hour},{minute},{second},${EMERGENCY_PLACE}` },
    { like: `${HEAD},{any}`, unknown: 'position' },
    { like: '$,{any},{unit},{any}', none: 'login' },
    { like: '$[,]{any:3},{unit},{percent},{any}', none: 'status' },
    { like: '$[,]{any:3},{unit},{any}', none: 'status' },
    { like: '${any}', unknown: 'type' },
  ],
})

/** It ends with *, with a line feed, or where the next one begins. */
function frameLength(bytes: Buffer, stream: Stream): number {
  if (bytes[0] !== DOLLAR) return -(bytes.indexOf(DOLLAR) < 0 ? bytes.length : bytes.indexOf(DOLLAR))
  const end = ends.after(bytes, 1, stream)
  if (bytes[end - 1] !== DOLLAR) return end
  return end === 2 ? -1 : end - 1
}

const DOLLAR = 0x24

const ALARMS: Readonly<Record<string, Alarm | undefined>> = {
  EA: 'sos',
  TA: 'tampering',
  DT: 'tampering',
  BD: 'power_cut',
  BR: 'power_restored',
  BL: 'low_battery',
}
const EMERGENCY_ENDS = '11'

function readType(type: string, draft: Draft): void {
  const alarm = ALARMS[type]
  if (alarm && !(type === 'EA' && draft.text('alert') === EMERGENCY_ENDS)) draft.says({ alarms: [alarm] })
}

function login(_: Draft, { now }: Session): string {
  const [year, month, day, clock] = new Date(now).toISOString().split(/[-T.]/)
  return `$LGN${day}${month}${year}${clock.replaceAll(':', '')}*`
}
