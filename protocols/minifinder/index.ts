/*
 * MiniFinder Pico and other trackers of Eview (EV-07): "minifinder Pico GPRS Communication Protocol" V1.26,
 * V1.27 (issuu.com/gpsr/docs/minifinder_pico_protocol_1.27); A, B and C are inferred from frames. TCP, text that ends with ; or ;NUL:
 *
 *   !1,I[,v,b]                                 login
 *   !t,DD/MM/YY,hh:mm:ss,Y,O,S,C,f[,H,b,s,…]   position, t: A, B, C, D; D has satellites
 *   !3,… !4,… !5,r,A|V,b                       answers and settings, telephone numbers, state
 *
 *   I  IMEI     Y, O  decimal degrees     S  km/h     C  degrees     H  metres     s  satellites     b  own battery, %     r  signal
 *   f  flags, bit 0: fixed, 6: SOS, 8: fall, 12: low battery, 14, 15: movement
 *
 * Nothing is answered.
 */
import { type Alarm, alarmsIn, type Draft, endsWith, textProtocol } from '../kit/index.ts'

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
      read: readFlags,
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

function readFlags(text: string, draft: Draft): void {
  const flags = Number.parseInt(text.slice(-6), 16)
  draft.valid = (flags & 1) === 1
  draft.says({ alarms: alarmsIn(flags, ALARMS) })
}

/** By the bit of the flags. */
const ALARMS: readonly (Alarm | undefined)[] = Object.assign([], {
  6: 'sos',
  8: 'accident',
  12: 'low_battery',
  14: 'movement',
  15: 'movement',
} satisfies Record<number, Alarm>)
