/*
 * GlobalSat TR-102, TR-151, TR-203, TR-600, GTR-128, GTR-388. TR-206 user manual, §2 and §11 (easymanua.ls/globalsat/tr-206),
 * TR-203A user manual, page 9, and frames. TCP and UDP, text with a checksum:
 *
 *   GSx,[m,]I,…,f,DDMMYY,hhmmss,EO,NY,H,S,C,s,P,…*XX!        report, of a format that can be configured: this is its usual part
 *   GSx,[m,]I,mode,r,a,fence,f,…      GSx,[m,]I,A,r,inputs,f,…        where its alarms usually stand
 *   GSh,[m,]I,a,f,charge*XX!                                 the usual second format; GSd: cells; GSs, GSg: settings
 *   $I,x,f,DDMMYY,hhmmss,EO,NY,H,S,C,s,P[…]!                 report of the TR-102, without a checksum
 *
 *   x  r: report, b: several     f  1: no fix          H  metres     C  degrees        P  HDOP; behind it may stand the charge, %,
 *   m  model, or nothing         Y, O  ddmm.mmmm       S  knots      s  satellites        or the supply and the own battery: 12380mV,3128mV
 *   I  IMEI                      X  exclusive or of what precedes *
 *   a  alarms, two hexadecimal digits: bit 0 SOS, 7 battery low; A: four, of other models: bit 0 SOS, 6 no power (inferred)
 *
 *   Answer to a report with a checksum: ACK, carriage return
 */
import { alarmsOf, type Draft, endsWith, textProtocol } from '../kit/index.ts'

const PLACE =
  '{fixed},{dmy},{hhmmss},{ew}{lonNmea},{ns}{latNmea},{altitude},{speedKnots},{course}[,{satellites}[,{hdop}[,{besides}]]][*{any}]'

const BEFORE_PLACE = [
  '{longAlarms},{any:2},',
  '{any:3},',
  '{any:2},{alarms},{any:1},',
  '{any:4},',
  '{any:2},',
  '{any:5},',
  '{any:1},',
  '',
]

export default textProtocol({
  name: 'globalsat',
  devices: 'GlobalSat TR-102, TR-151, TR-203, TR-600, GTR-128, GTR-388',
  acknowledges: 'fixes',
  integrity: { sum: 'xor', to: '*', digits: 2, optional: true },
  port: 5043,
  transports: ['tcp', 'udp'],
  frame: endsWith('!'),
  ends: '!',
  fields: {
    kind: { like: '[a-z]' },
    model: { like: '[\\w .-]*' },
    alarms: { like: '[0-9A-Fa-f]{2}', read: readAlarms },
    longAlarms: { like: '[0-9A-Fa-f]{4}', read: readLongAlarms },
    digit: { like: '\\d' },
    settings: { like: '[gs]' },
    besides: { read: readPower },
    fixed: { like: '\\d\\d?', read: (text: string, draft: Draft) => void (draft.valid = +text !== 1) },
  },
  lines: [
    ...BEFORE_PLACE.map((fields) => ({ like: `GS{kind},[{model},]{imei},${fields}${PLACE}`, answer: 'ACK\r' })),
    { like: `\${imei},{any},${PLACE}` },
    { like: 'GS{settings},[{model},]{imei}[,{any}]', none: 'command answer' },
    { like: 'GSd,[{model},]{imei}[,{any}]', none: 'cells', answer: 'ACK\r' },
    ...['{alarms}', '{any:1}'].map((alarms) => ({
      like: `GSh,[{model},]{imei},${alarms},{digit},{batteryPercent}[*{any}]`,
      none: 'status',
      answer: 'ACK\r',
    })),
    { like: 'GS{kind},[{model},]{imei}[,{any}]', unknown: 'position', answer: 'ACK\r' },
  ],
})

function readAlarms(text: string, draft: Draft): void {
  const bits = Number.parseInt(text, 16)
  draft.says({ alarms: alarmsOf(bits & 0x01 && 'sos', bits & 0x80 && 'low_battery') })
}

function readLongAlarms(text: string, draft: Draft): void {
  const bits = Number.parseInt(text, 16)
  draft.says({ alarms: alarmsOf(bits & 0x01 && 'sos', bits & 0x40 && 'power_cut') })
}

/** What follows the HDOP: voltages, or the charge of the battery. */
function readPower(text: string, draft: Draft): void {
  const [, charge, supply, battery] = POWER.exec(text) ?? []
  if (charge !== undefined) draft.beside.battery_percent = +charge
  if (supply !== undefined) draft.beside.external_voltage = +supply / 1000
  if (battery !== undefined) draft.beside.battery_voltage = +battery / 1000
}

const POWER = /^(?:(\d{1,3})(?:%|$)|(\d{1,6})mV(?:,(\d{1,6})mV)?)/
