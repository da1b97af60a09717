/*
 * TRV and IW watches and pet trackers (Thinkrace, 4P Touch). "GPS watch communication protocol" (Thinkrace), inferred from
 * frames where it is not public; "Protocol for GPS Watch" V1.0 (of IW, 2019); "VT206 GPRS Protocol" 1.1 (TRV in vehicles).
 * TCP, text. W is TRV or IW; K the kind:
 *
 *   WAP00I[,…]#                                                                   login
 *   WKYYMMDDAYYYY.YYYYNOOOOO.OOOOESSSSShhmmssCCCCCCgggsssbbb…,…#                  position
 *   IWAP02,…#  IWAP03,…#  IWAP49,…#  IWAPHT,…#                                    cells and Wi-Fi, heartbeat, health
 *
 *   I  IMEI                  Y, O  ddmm.mmmm     C  degrees, six characters
 *   A  A: valid, V: not      S     km/h          g, b  GSM signal, battery     s  satellites
 *
 * Behind the battery of a position and of the heartbeats (IWAP03, CP01): a digit of the ignition (1 on, 2 off, 0 not
 * known, inferred). IWAP10: alarm, 01 is SOS. Kept: other kinds, and positions in another layout.
 *
 * Answer: W, the kind with the next letter (BP for AP, DP for CP, ZP for YP), # — to the login of IW with the time in between.
 * TRVAP02, 03, 04 … are answers to commands, and not answered: TRVBP03 would cut off the petrol.
 */
import { type Draft, endsWith, textProtocol } from '../kit/index.ts'

const HEAD = '{brand}{letter}P{kind}'
const PLACE = `${HEAD}[,]{ymd}{valid}{latNmea}{ns}{lonNmea}{ew}{speedKmh:5}{hhmmss}{course:6}{signal}{satellites:3}`

export default textProtocol({
  name: 'trv',
  devices: 'Thinkrace PT30, PT718, PG88, TRV, IW and other watches',
  acknowledges: 'fixes',
  port: 5010,
  frame: endsWith('#'),
  ends: '#',
  fields: {
    imei: { like: '\\d{10,17}' },
    brand: { like: 'TRV|IW' },
    letter: { like: '[A-Z]' },
    kind: { like: '[0-9A-Z]{2}' },
    health: { like: '49|50|97|HD|HP|HT' },
    command: { like: '02|03|04|06|07|08|11' },
    signal: { like: '\\d{3}' },
    number: { like: '\\d{3}' },
    temperature: {},
    letterOfFix: { like: '[AV]' },
    acc: { like: '\\d', read: (text, draft) => ACC.has(text) && draft.says({ ignition: ACC.get(text) }) },
    rest: { read: readRest },
  },
  lines: [
    { like: 'IWAP00{imei}[,{any}]', none: 'login', answer: 'IWBP00,{clock},0#' },
    { like: 'TRVAP00{imei}[,{any}]', none: 'login', answer: 'TRVBP00#' },
    { like: `${PLACE}{batteryPercent:3}[{acc}]{rest}`, answer },
    { like: `${PLACE}{any}`, answer },
    { like: 'IWAP02[,{any}]', none: 'cells', answer: 'IWBP02#' },
    { like: 'IWAP03,{signal}{number}{batteryPercent:3}[{rest}]', none: 'heartbeat', answer: 'IWBP03#' },
    { like: 'IWAP03[,{any}]', none: 'heartbeat', answer: 'IWBP03#' },
    { like: 'IWAP50,{temperature},{batteryPercent}', none: 'health', answer: 'IWBP50#' },
    { like: 'IWAP{health}[,{any}]', none: 'health', answer: 'IWBP{health}#' },
    { like: 'TRVAP{command}[,{any}]', none: 'command answer' },
    { like: 'TRVAP21[,{any}]', none: 'settings', answer: 'TRVBP21#' },
    { like: '{brand}CP01,{signal}{number}{batteryPercent:3}[{rest}]', none: 'heartbeat', answer: '{brand}DP01#' },
    { like: '{brand}CP01[,{any}]', none: 'heartbeat', answer: '{brand}DP01#' },
    { like: `${HEAD}[,]{ymd}{letterOfFix}{any}`, unknown: 'position', answer },
    { like: '{brand}YP02[,{any}]', none: 'identifiers', answer: '{brand}ZP02#' },
    { like: '{brand}YP16[,{any}]', none: 'heartbeat', answer: '{brand}ZP16#' },
    { like: '{brand}YP{kind}{any}', unknown: 'type', answer: '{brand}ZP{kind}#' },
    { like: `${HEAD}[,{any}]`, unknown: 'type' },
  ],
})

/** Whether the ignition is on; 0: the device does not say. */
const ACC = new Map([
  ['1', true],
  ['2', false],
])

/** Behind the digit of the ignition: the alarm of the fifth field of an AP10: `…,MCC,MNC,LAC,cell,alarm,language,…`. */
function readRest(text: string, draft: Draft): void {
  if (draft.text('kind') === '10' && text.split(',', 6)[5] === SOS) draft.says({ alarms: ['sos'] })
}

const SOS = '01'

/** The letter of the kind that is answered, and the one behind it. */
function answer(draft: Draft): string {
  const next = String.fromCharCode(draft.text('letter').charCodeAt(0) + 1)
  return `${draft.text('brand')}${next}P${draft.text('kind')}#`
}
