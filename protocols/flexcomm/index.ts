/*
 * Flexcomm trackers. No specification is known: inferred from frames. TCP, 110 digits a frame:
 *
 *   7Ekk IIIIIIIIIIIIIII YYYYMMDDhhmmss A YYYYYYYYY OOOOOOOOOO HHHH SSS CCC gg ss … PPP VVV xx xxx
 *
 *   k  kind of report     A  1: valid, 0: not          H  metres     C  degrees     s  satellites
 *   I  IMEI               Y, O  degrees × 1,000,000    S  km/h       g  signal      P  own battery, %     V  supply, V × 10
 *
 *   Answer: {01}
 */
import { type Draft, fixedLength, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'flexcomm',
  devices: 'Flexcomm trackers',
  acknowledges: 'fixes',
  port: 5142,
  frame: fixedLength(110, '7E'),
  fields: { two: { like: '\\d\\d' }, two2: { like: '\\d\\d' }, imei: { like: '\\d{15}' }, rest: { read: readPower } },
  lines: [
    {
      like: '7E{two}{imei}{yyyymmdd}{hhmmss}{valid}{lat:9/1e6}{lon:10/1e6}{altitude:4}{speedKmh:3}{course:3}{two2}{satellites:2}{rest}',
      answer: '\\{01\\}',
    },
    { like: '7E{any}', unknown: 'position' },
  ],
})

function readPower(text: string, draft: Draft): void {
  const [, percent, tenths] = /(\d{3})(\d{3})\d{5}$/.exec(text) ?? []
  if (percent !== undefined) draft.says({ battery_percent: +percent, external_voltage: +tenths / 10 })
}
