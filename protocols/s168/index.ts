/*
 * S168 watches and similar personal trackers. No specification is known: inferred from frames. TCP, text, named parts:
 *
 *   S168#I#n#L#LOCA:…;GDATA:A,s,YYMMDDhhmmss,Y,O,S,C,H;STATUS:b,g;…$
 *
 *   I  IMEI           L  length     A  A: valid, V: not     Y, O  decimal degrees     H  metres
 *   n  serial number                s  satellites           S     km/h                C  degrees
 *   b  battery, %                   g  GSM signal
 *
 * Nothing is answered.
 */
import { type Draft, drawn, endsWith, type Fix, optionalNumber, type Session, textProtocol } from '../kit/index.ts'

const GDATA = drawn('{valid},{satellites},{ymd}{hhmmss},{lat},{lon}[,{speedKmh}[,{course}[,{altitude}[,{any}]]]]', {})

export default textProtocol({
  name: 's168',
  devices: 'S168',
  port: 5204,
  frame: endsWith('$'),
  ends: '$',
  fields: { parts: {} },
  lines: [{ like: 'S168#{imei}#{any}#{any}#{parts}', none: 'status', fix }],
})

/** The position of the part GDATA, where there is one. */
function fix(draft: Draft, session: Session): Fix | undefined {
  const parts = draft.text('parts').split(';')
  const part = (name: string) => parts.find((text) => text.startsWith(name))?.slice(name.length)
  draft.says({ battery_percent: optionalNumber(part('STATUS:')?.split(',', 1)[0]) })
  const found = GDATA.match(part('GDATA:') ?? '', session)?.fix(session)
  return found && { ...found, said: draft.said }
}
