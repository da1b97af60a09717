/*
 * VT-FMS trackers (India). No specification is known: inferred from frames. TCP and UDP, text with a checksum of three digits:
 *
 *   (I,e,x,x,x,x,s,x,A,hhmmss,DDMMYY,Y,O,C,S,x,x,x,x,p,V,…)XXX
 *
 *   I  IMEI           A  A: valid, V: not                                    C  degrees, or a point of the compass
 *   s  satellites     Y, O  ddmm.mmmm or decimal degrees, no hemisphere      S  km/h
 *   X  exclusive or of what is between the parentheses, decimal              V  external voltage
 *   p  1: external power (inferred), which charges the battery                Nothing is answered.
 */
import { type Draft, degreesMinutes, type Fix, heading, type Session, textProtocol, verify, xor } from '../kit/index.ts'

const HEAD = '({imei},{any:5},{satellites},{any},{valid},{hhmmss},{dmy},{latitude},{longitude},'
const POWER = ',{any}[,{any:3},{charging},{externalVolts}][,{any}]'
const POINTS = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW']

export default textProtocol({
  name: 'vtfms',
  devices: 'VT-FMS',
  integrity: { checksum: 'XOR', covers: (frame) => [1, frame.lastIndexOf(')')] },
  port: 5145,
  transports: ['tcp', 'udp'],
  frame: frameLength,
  before: content,
  fields: {
    latitude: { like: '\\d+\\.\\d+', read: (text: string, draft: Draft) => void (draft.latitude = angle(text, 2)) },
    longitude: { like: '\\d+\\.\\d+', read: (text: string, draft: Draft) => void (draft.longitude = angle(text, 3)) },
    point: {
      like: '[NESW]{1,2}',
      read: (text: string, draft: Draft) => void (draft.heading = heading(POINTS.indexOf(text) * 45)),
    },
  },
  lines: [
    { like: `${HEAD}{course},{speedKmh}${POWER}`, fix },
    { like: `${HEAD}{point},{speedKmh}${POWER}`, fix },
    { like: '({imei},{any}', unknown: 'type' },
  ],
})

/** The place is in fields of this protocol. */
function fix(draft: Draft, session: Session): Fix | undefined {
  return draft.fix(session)
}

/** Three digits follow the parenthesis. */
function frameLength(bytes: Buffer): number {
  if (bytes[0] !== 0x28) return -(bytes.indexOf('(') < 0 ? bytes.length : bytes.indexOf('('))
  const end = bytes.indexOf(')')
  return end < 0 || bytes.length < end + 4 ? 0 : end + 4
}

function content(text: string, session: Session): string {
  const end = text.lastIndexOf(')')
  verify(+text.slice(end + 1) === xor(Buffer.from(text.slice(1, end), 'latin1')), session)
  return text
}

/** Decimal degrees have at most so many digits before the point; with more these are degrees and minutes. */
function angle(text: string, digits: number): number {
  return text.indexOf('.') > digits ? degreesMinutes(+text) : +text
}
