/*
 * GNX trackers (India). No specification is known: inferred from frames. TCP, lines that end with LF CR:
 *
 *   $GNX_TTT,I,e,x,hhmmss,DDMMYY,hhmmss,DDMMYY,f,Y,N,O,E,…,XX*
 *
 *   T  kind of report     I  IMEI     f  1: fixed, 0: no fix     Y, O  decimal degrees     X  a sum that is not known
 *
 * The second time is that of the fix, in Indian time. What follows the place depends on the kind; in MIF it is
 * a number and the driver. Nothing is answered.
 */
import { type Draft, endsWith, type Fix, type Session, textProtocol } from '../kit/index.ts'

const HEAD = '$GNX_{report},{imei},{any:2},{any},{any},'
/** Indian time is ahead of UTC by 5:30 h. */
const INDIA_MS = 5.5 * 3_600_000

export default textProtocol({
  name: 'gnx',
  devices: 'GNX trackers',
  integrity: { none: 'which sum the two digits at the end are is not known' },
  port: 5106,
  frame: endsWith('\n\r'),
  fields: { report: { like: '[A-Z]{3}' } },
  lines: [
    { like: `$GNX_MIF,{imei},{any:4},{hhmmss},{dmy},1,{lat},{ns},{lon},{ew},{any},{driver},{any}`, fix },
    { like: `${HEAD}{hhmmss},{dmy},1,{lat},{ns},{lon},{ew},{any}`, fix },
    { like: `${HEAD}{any},{any},0,{any}`, none: 'no fix' },
    { like: '$GNX_{report},{imei},{any}', unknown: 'type' },
  ],
})

function fix(draft: Draft, session: Session): Fix | undefined {
  if (session.settingsOf(draft.device).timeZone === undefined) draft.time = draft.timeBy(session.now) - INDIA_MS
  return draft.fix(session)
}
