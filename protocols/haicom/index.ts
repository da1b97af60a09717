/*
 * Haicom HI-602, HI-603, HI-604. "HI-602X GPRS protocol", TCP or UDP (docs.plaspy.com/devices/haicom/hi_602x), text:
 *
 *   $GPRSI,v,YYMMDD,hhmmss,fYYYYYYYOOOOOOOO,S,C,…#VBBB*
 *
 *   I  IMEI         f  bits: 1 valid, 2 east, 4 north         S  knots × 10
 *   v  firmware     Y, O  ddmmmmm, dddmmmmm (ddmm.mmm)        C  degrees × 10     B  battery, V × 10. Nothing is answered.
 */
import { type Draft, endsWith, textProtocol } from '../kit/index.ts'

const POSITION = '$GPRS{imei},{any},{ymd},{hhmmss},{flags}{latNmea:7/1e3}{lonNmea:8/1e3},{speedKnots/10},{course/10}'

export default textProtocol({
  name: 'haicom',
  devices: 'Haicom HI-602, HI-603, HI-604',
  port: 5063,
  transports: ['tcp', 'udp'],
  frame: endsWith('*'),
  ends: '*',
  fields: { flags: { like: '\\d', read: readFlags } },
  lines: [{ like: `${POSITION}[,{any}#V{batteryVolts/10}][,{any}]` }, { like: '$GPRS{imei},{any}', unknown: 'type' }],
})

function readFlags(text: string, draft: Draft): void {
  draft.valid = (+text & 1) !== 0
  draft.isWest = (+text & 2) === 0
  draft.isSouth = (+text & 4) === 0
}
