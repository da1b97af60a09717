/*
 * GPSMarker M-series (Russia). No specification is known: inferred from frames. TCP, text that ends with # and a carriage return:
 *
 *   $GM2nnIIIIIIIIIIIIIIITDDMMYYhhmmssNYYYYYYYYEOOOOOOOOOSSSCCCsbb…#   position; $GM1 without n and seconds
 *   $GM2nnIIIIIIIIIIIIIIITDDMMYYhhmmssG…#                              cells
 *
 *   n  index     I  IMEI     Y, O  ddmmmmmm, dddmmmmmm     S  knots     C  degrees     s  satellites, hexadecimal
 *   b  battery, %
 *
 * Nothing is answered.
 */
import { type Draft, endsWith, textProtocol } from '../kit/index.ts'

const PLACE = '{ns}{latNmea:8/1e4}{ew}{lonNmea:9/1e4}{speedKnots:3}{course:3}{seen}[{charge}]{any}'

export default textProtocol({
  name: 'gpsmarker',
  devices: 'GPSMarker M60, M70, M100',
  port: 5057,
  frame: endsWith('\r'),
  ends: '#',
  fields: {
    imei: { like: '\\d{15}' },
    index: { like: '[0-9A-F]{2}' },
    charge: { like: '\\d\\d', read: (text: string, draft: Draft) => draft.says({ battery_percent: +text }) },
    seen: {
      like: '[0-9A-F]',
      read: (text: string, draft: Draft) => void (draft.satellites = Number.parseInt(text, 16)),
    },
  },
  lines: [
    { like: `$GM2{index}{imei}T{dmy}{hhmmss}${PLACE}` },
    { like: `$GM1{imei}T{dmy}{hhmm}${PLACE}` },
    { like: '$GM2{index}{imei}T{dmy}{hhmmss}G{any}', none: 'cells' },
    { like: '$GM{any}', unknown: 'type' },
  ],
})
