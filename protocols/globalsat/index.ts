/*
 * GlobalSat TR-102, TR-151, TR-203, TR-600, GTR-128, GTR-388. TR-206 user manual, §11 (easymanua.ls/globalsat/tr-206),
 * and frames. TCP, text with a checksum:
 *
 *   GSx,[m,]I,…,f,DDMMYY,hhmmss,EO,NY,H,S,C,s,P,…*XX!        report, of a format that can be configured: this is its usual part
 *   GSh,[m,]I,alarms,f,charge*XX!                            the usual second format; GSd: cells; GSs, GSg: settings
 *   $I,x,f,DDMMYY,hhmmss,EO,NY,H,S,C,s,P[…]!                 report of the TR-102, without a checksum
 *
 *   x  r: report, b: several     f  1: no fix          H  metres     C  degrees        P  HDOP; behind it may stand the charge, %,
 *   m  model, or nothing         Y, O  ddmm.mmmm       S  knots      s  satellites        or the supply and the own battery: 12380mV,3128mV
 *   I  IMEI                      X  exclusive or of what precedes *
 *
 *   Answer to a report with a checksum: ACK, carriage return
 */
import { type Draft, endsWith, textProtocol } from '../kit/index.ts'

const PLACE =
  '{fixed},{dmy},{hhmmss},{ew}{lonNmea},{ns}{latNmea},{altitude},{speedKnots},{course}[,{satellites}[,{hdop}[,{besides}]]][*{any}]'

export default textProtocol({
  name: 'globalsat',
  devices: 'GlobalSat TR-102, TR-151, TR-203, TR-600, GTR-128, GTR-388',
  acknowledges: 'fixes',
  integrity: { sum: 'xor', to: '*', digits: 2, optional: true },
  port: 5043,
  frame: endsWith('!'),
  ends: '!',
  fields: {
    kind: { like: '[a-z]' },
    model: { like: '[\\w .-]*' },
    alarms: { like: '[0-9A-Fa-f]*' },
    digit: { like: '\\d' },
    settings: { like: '[gs]' },
    besides: { read: readPower },
    fixed: { like: '\\d\\d?', read: (text: string, draft: Draft) => void (draft.valid = +text !== 1) },
  },
  lines: [
    ...['{any:3},', '{any:4},', '{any:2},', '{any:5},', '{any:1},', ''].map((fields) => ({
      like: `GS{kind},[{model},]{imei},${fields}${PLACE}`,
      answer: 'ACK\r',
    })),
    { like: `\${imei},{any},${PLACE}` },
    { like: 'GS{settings},[{model},]{imei}[,{any}]', none: 'command answer' },
    { like: 'GSd,[{model},]{imei}[,{any}]', none: 'cells', answer: 'ACK\r' },
    { like: 'GSh,[{model},]{imei},{alarms},{digit},{batteryPercent}[*{any}]', none: 'status', answer: 'ACK\r' },
    { like: 'GS{kind},[{model},]{imei}[,{any}]', unknown: 'position', answer: 'ACK\r' },
  ],
})

/** What follows the HDOP: voltages, or the charge of the battery. */
function readPower(text: string, draft: Draft): void {
  const [, charge, supply, battery] = POWER.exec(text) ?? []
  if (charge !== undefined) draft.beside.battery_percent = +charge
  if (supply !== undefined) draft.beside.external_voltage = +supply / 1000
  if (battery !== undefined) draft.beside.battery_voltage = +battery / 1000
}

const POWER = /^(?:(\d{1,3})(?:%|$)|(\d{1,6})mV(?:,(\d{1,6})mV)?)/
