/*
 * BSTPL-17 (Black Stone Tech, India). No specification is known: inferred from frames. TCP, text that ends with #:
 *
 *   BSTPL$1,I,A,DDMMYY,hhmmss,Y,N,O,E,S,x,C,s,x,x,c,i,x,x,x,x,b,x,x,u#     or …,s,x,x,b,c,i,u,…#
 *
 *   I  IMEI or id     A  A: valid, V: not     Y, O  decimal degrees; N, E are 0 without a fix     S  km/h     C  degrees     s  satellites
 *
 *   c  1: on power, charging     i  1: ignition     b  battery, V     u  power from outside, V
 *
 * Nothing is answered.
 */
import { endsWith, textProtocol } from '../kit/index.ts'

const PLACE = 'BSTPL$1,{id},{valid},{dmy},{hhmmss},{lat},{ns},{lon},{ew},{speedKmh},{any},{course},{satellites}'

export default textProtocol({
  name: 'bstpl',
  devices: 'BSTPL-17',
  port: 5241,
  frame: endsWith('#'),
  ends: '#',
  fields: {
    ns: { like: '[NS0]' },
    ew: { like: '[EW0]' },
    /** With a point: where the other layout has a digit alone. */
    volts: { like: '\\d+\\.\\d+', read: (text, draft) => draft.says({ battery_voltage: +text }) },
  },
  lines: [
    { like: `${PLACE},{any:2},{charging},{ignition},{any:4},{batteryVolts},{any:2},{externalVolts}[,{any}]` },
    { like: `${PLACE},{any:2},{volts},{charging},{ignition},{externalVolts},{any}` },
    { like: `${PLACE},{any}` },
    { like: 'BSTPL${any},{id},{any}', unknown: 'type' },
  ],
})
