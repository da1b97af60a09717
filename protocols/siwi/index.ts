/*
 * Siwi trackers (India). No specification was found: inferred from frames. TCP, lines:
 *
 *   $SIWI,I,n,r,e,…,g,i,x,o,S,s,A,Y,O,H,C,hhmmss,DDMMYY,x,x,x,x,b…!
 *
 *   I  id                  S  km/h             A  A: valid, V: not         H  metres      time and date of India, UTC+5:30
 *   g  1: ignition         b  own battery, mV
 *   r  kind of report      s  satellites       Y, O  decimal degrees       C  degrees
 *
 * The maker may name its own lines ($RTPL). The zone of a device in devices.yaml counts instead of India's. Nothing is answered.
 */
import { type Draft, type Fix, optionalNumber, type Session, textProtocol } from '../kit/index.ts'

const INDIA_MS = 19_800_000

export default textProtocol({
  name: 'siwi',
  devices: 'Siwi trackers',
  port: 5135,
  ends: '!',
  fields: {
    head: { like: '[A-Z]{4}' },
    report: { like: '[A-Z]' },
    acc: { read: readIgnition },
    battery: { read: readBattery },
  },
  fix,
  lines: [
    {
      like: '${head},{id},{any},{report},{any:2},{acc},{any:4},{speedKmh},{satellites},{valid},{lat},{lon},{altitude},{course},{hhmmss},{dmy}[,{any:4},{battery}][,{any}]',
    },
    { like: '${head},{id},{any}', unknown: 'type' },
  ],
})

function readIgnition(text: string, draft: Draft): void {
  if (text === '0' || text === '1') draft.says({ ignition: text === '1' })
}

function readBattery(text: string, draft: Draft): void {
  draft.says({ battery_voltage: optionalNumber(text, (millivolts) => millivolts / 1000) })
}

function fix(draft: Draft, session: Session): Fix | undefined {
  const found = draft.fix(session)
  if (found && session.settingsOf(draft.device).timeZone === undefined) found.time -= INDIA_MS
  return found
}
