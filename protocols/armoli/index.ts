/*
 * Armoli trackers (Turkey). No specification is known: inferred from one frame. TCP, text in brackets that ends with a semicolon:
 *
 *   [MIIIIIIIIIIIIIIIDDMMYYhhmmssNYY.YYYYYYEOOO.OOOOOOfsSSCCC…HVVV…]     position
 *
 *   I  IMEI     Y, O  decimal degrees     s  satellites, hexadecimal     S  km/h, hexadecimal     C  degrees
 *   V  external voltage, 0.01 V, hexadecimal (inferred)
 *
 * Nothing is answered.
 */
import { type Draft, endsWith, kmh, textProtocol } from '../kit/index.ts'

const hex = (text: string) => Number.parseInt(text, 16)

export default textProtocol({
  name: 'armoli',
  devices: 'Armoli trackers',
  integrity: { none: 'which sum the digits at the end are is not known' },
  port: 5238,
  frame: endsWith(';'),
  ends: ';',
  fields: {
    imei: { like: '\\d{15}' },
    state: { like: '\\d' },
    seen: { like: '[0-9A-F]', read: (text: string, draft: Draft) => void (draft.satellites = hex(text)) },
    volts: {
      like: '[0-9A-F]{3}',
      read: (text: string, draft: Draft) => draft.says({ external_voltage: hex(text) / 100 }),
    },
    velocity: { like: '[0-9A-F]{2}', read: (text: string, draft: Draft) => void (draft.speed = kmh(hex(text))) },
  },
  lines: [
    { like: '\\[M{imei}{dmy}{hhmmss}{ns}{lat:9}{ew}{lon:10}{state}{seen}{velocity}{course:3}{any}H{volts}{any}' },
    { like: '\\[M{imei}{dmy}{hhmmss}{ns}{lat:9}{ew}{lon:10}{state}{seen}{velocity}{course:3}{any}' },
    { like: '\\[M{imei}{any}', unknown: 'position' },
    { like: '\\[{any}', unknown: 'type' },
  ],
})
