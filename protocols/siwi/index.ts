/*
 * Siwi trackers (India). No specification was found: inferred from frames. TCP, lines:
 *
 *   $SIWI,I,n,r,e,…,g,i,x,o,S,s,A,Y,O,H,C,hhmmss,DDMMYY,…!
 *
 *   I  id                  S  km/h             A  A: valid, V: not         H  metres      time and date of India, UTC+5:30
 *   r  kind of report      s  satellites       Y, O  decimal degrees       C  degrees
 *
 * The maker may name its own lines ($RTPL). The zone of a device in devices.yaml counts instead of India's. Nothing is answered.
 */
import { type Draft, type Fix, type Session, textProtocol } from '../kit/index.ts'

const INDIA_MS = 19_800_000

export default textProtocol({
  name: 'siwi',
  devices: 'Siwi trackers',
  port: 5135,
  ends: '!',
  fields: { head: { like: '[A-Z]{4}' }, report: { like: '[A-Z]' } },
  fix,
  lines: [
    {
      like: '${head},{id},{any},{report},{any:7},{speedKmh},{satellites},{valid},{lat},{lon},{altitude},{course},{hhmmss},{dmy}[,{any}]',
    },
    { like: '${head},{id},{any}', unknown: 'type' },
  ],
})

function fix(draft: Draft, session: Session): Fix | undefined {
  const found = draft.fix(session)
  if (found && session.settingsOf(draft.device).timeZone === undefined) found.time -= INDIA_MS
  return found
}
