/*
 * MiniFinder Pico and other trackers of Eview (EV-07): "minifinder Pico GPRS Communication Protocol" V1.26
 * (traccar.org/protocol/5062-minifinder); A, B and C are inferred from frames. TCP, text that ends with ; or ;NUL:
 *
 *   !1,I[,v,b]                                 login
 *   !t,DD/MM/YY,hh:mm:ss,Y,O,S,C,f[,H,b,s,…]   position, t: A, B, C, D; D has satellites
 *   !3,… !4,… !5,r,A|V,b                       answers and settings, telephone numbers, state
 *
 *   I  IMEI     Y, O  decimal degrees     S  km/h     C  degrees     f  flags, bit 0: fixed     H  metres     s  satellites
 *   b  own battery, %     r  signal
 *
 * Nothing is answered.
 */
import { type Draft, endsWith, textProtocol } from '../kit/index.ts'

const PLACE = '{day}/{month}/{yy},{hour}:{minute}:{second},{lat},{lon},{speedKmh},{course},{flags}'

export default textProtocol({
  name: 'minifinder',
  devices: 'MiniFinder Pico, EV-07',
  port: 5062,
  frame: endsWith(';', ';\0'),
  ends: ';',
  fields: {
    flags: {
      like: '[0-9A-Fa-f]+',
      read: (text: string, draft: Draft) => void (draft.valid = (Number.parseInt(text.slice(-1), 16) & 1) === 1),
    },
    kind: { like: '[A-Z]' },
    state: { like: '[345]' },
  },
  lines: [
    { like: '!1,{imei}[,{any}]', none: 'login' },
    { like: `!D,${PLACE}[,{altitude}[,{batteryPercent}[,{satellites}[,{any}]]]]` },
    { like: `!{kind},${PLACE}[,{altitude}[,{batteryPercent}[,{any}]]]` },
    { like: '!5,{any},{valid},{batteryPercent}[,{any}]', none: 'status' },
    { like: '!{state},{any}', none: 'status' },
    { like: '!{any}', unknown: 'type' },
  ],
})
