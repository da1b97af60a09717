/*
 * Visiontek 86VT, VAJRA and other trackers (India). No specification is known: inferred from frames. TCP, text between $ and #:
 *
 *   $1,V,DD,MM,YY,hh,mm,ss,YN,OE,S,C,x,s,…,A                     ddmm.mmmm, tenths of km/h
 *   $1,V,I,DD,MM,YY,hh,mm,ss,YN,OE,S,C,P,H,…,A,x                 decimal degrees, km/h
 *   $1,V,I,DD,MM,YY,hh,mm,ss,YN,OE,S,C,H,s,…,A,x                 ddmmmmmm, dddmmmmmm
 *   $1,V,DD,MM,YY,hh,mm,ss,YN,OE,S,C,…,A                         the same, without an altitude
 *
 *   In the first and third, two fields on behind the odometer or the satellites: the ignition.
 *
 *   V  registration, or a name of the model     S  km/h     P  HDOP     s  satellites     A  A: valid, V: not
 *   I  IMEI                                     C  degrees  H  metres
 *
 * The device is I, and V only where a line has no IMEI: V may be the same in all trackers of a fleet.
 * The flag is at the end of a line, or in front of its last fields, up to three. Nothing is answered.
 */
import { between, textProtocol } from '../kit/index.ts'

const TIME = '{day},{month},{yy},{hour},{minute},{second}'

export default textProtocol({
  name: 'visiontek',
  devices: 'Visiontek 86VT, VAJRA',
  port: 5069,
  frame: between('$', '#'),
  ends: '#',
  before: validityFirst,
  lines: [
    {
      like: `[{valid}]$1,{id},${TIME},{latDeg:2}{latMin:7}{ns},{lonDeg:3}{lonMin:7}{ew},{speedKmh/10},{course},{any},{satellites},{any}[,{any},{ignition}][,{any}]`,
    },
    {
      like: `[{valid}]$1,{any},{imei},${TIME},{latDeg:2}{latMin:6/1e4}{ns},{lonDeg:3}{lonMin:6/1e4}{ew},{speedKmh},{course},{altitude},{satellites}[,{any},{ignition}],{any}`,
    },
    {
      like: `[{valid}]$1,{id},${TIME},{latDeg:2}{latMin:6/1e4}{ns},{lonDeg:3}{lonMin:6/1e4}{ew},{speedKmh},{course},{any}`,
    },
    { like: `[{valid}]$1,{any},{imei},${TIME},{lat}{ns},{lon}{ew},{speedKmh},{course},{hdop},{altitude},{any}` },
    { like: `[{valid}]$1,{any},{imei},${TIME},{any},{any}`, none: 'no place' },
    { like: '[{valid}]${any}', unknown: 'type' },
  ],
})

/** How many fields stand between the course and the flag differs by firmware: the flag is read first. */
function validityFirst(text: string): string {
  return `${/,([AV])(?:,[^,]*){0,3}$/.exec(text.slice(-48))?.[1] ?? ''}${text}`
}
