/*
 * Trackers that speak TAIP, Trimble's ASCII interface protocol (Trimble Placer, Sierra Wireless, CalAmp LMU, Virloc, Antares).
 * "TAIP reference" of Trimble's Lassen manuals, and the manuals of Virtual Tec for RGP … RUV. TCP and UDP, text:
 *
 *   >RPVsssssYYYYYYYYOOOOOOOOOSSSCCCqa[;…];ID=I;*XX<                      position, s: seconds of the day
 *   >REVeewwwwdsssssYYYYYYYYOOOOOOOOOSSSCCCqa…                            event, w: GPS week, d: day of the week
 *   >RGPDDMMYYhhmmssYYYYYYYYOOOOOOOOOSSSCCCqaabb[ee[PP]];ID=I;#n;*XX<     Virloc's position
 *   >RPI… >RCQee… >RCVee… >RUSee,… >RUVeeeee,t,…                          others with the same beginning
 *
 *   Y, O  degrees × 100,000, signed     q  source of RPV and REV, 9: none; of the others 0 and 9: no fix
 *   S     mph                           P  HDOP                   n  number of the message
 *   C     degrees                       SV  satellites            X  exclusive or of what precedes
 *
 *   Answer: >ACK;ID=I;#n;*XX<, with the parts in the order of the message; >SAK;ID=I;#n< where n begins with IP; I without n.
 *
 * Times of REV are UTC: no leap seconds are taken off. RLN (with more digits) and RTT are not read yet.
 */
import { type Draft, endsWith, type Session, textProtocol, verify, xor, xorOfText } from '../kit/index.ts'

const PLACE = '{lat:8/1e5}{lon:9/1e5}{speedMph:3}{course:3}'
const PV = `${PLACE}{source}{age}{any}`
const GP = `{dmy}{hhmmss}${PLACE}{fixed}[{hex}[{hex}[{event}[{hdop:2}]]]]`
const STAR = 0x2a
const WEEK = 604_800_000
const GPS_EPOCH = Date.UTC(1980, 0, 6)

export default textProtocol({
  name: 'taip',
  devices: 'Trimble Placer, Sierra Wireless, CalAmp, Virloc, Antares',
  acknowledges: 'fixes',
  integrity: { checksum: 'XOR', covers: (frame) => [0, Math.max(0, frame.lastIndexOf('*'))] },
  port: 5031,
  transports: ['tcp', 'udp'],
  frame: endsWith('<', '<\r\n'),
  ends: '<',
  before: identityFirst,
  fields: {
    seconds: { like: '\\d{5}', read: (text: string, draft: Draft) => void (draft.clock = +text * 1000) },
    when: { like: '\\d{10}', read: readWhen },
    source: { like: '\\d', read: (text: string, draft: Draft) => void (draft.valid = text !== '9') },
    fixed: { like: '\\d', read: (text: string, draft: Draft) => void (draft.valid = text !== '0' && text !== '9') },
    age: { like: '\\d' },
    event: { like: '\\d{2}' },
    hex: { like: '[0-9A-Fa-f]{2}' },
    kind: { like: '[A-Z]{2}' },
    status: { like: '[A-Z]' },
    unread: { like: 'LN|TT' },
    message: {},
  },
  lines: [
    { like: `{message}|[{id}]|[{satellites}]|>RPV{seconds}${PV}`, answer },
    { like: `{message}|[{id}]|[{satellites}]|>REV{event}{when}${PV}`, answer },
    { like: `{message}|[{id}]|[{satellites}]|>RGP${GP}{any}`, answer },
    { like: `{message}|[{id}]|[{satellites}]|>RPI{dmy}{hhmmss}${PLACE}{any}`, answer },
    { like: `{message}|[{id}]|[{satellites}]|>R{kind}{event}{dmy}{hhmmss}${PLACE}{any}`, answer },
    { like: `{message}|[{id}]|[{satellites}]|>RU{status}{event},${GP}{any}`, answer },
    { like: `{message}|[{id}]|[{satellites}]|>RUV{any},{any},${GP}{any}`, answer },
    { like: '{message}|[{id}]|[{satellites}]|>RAL{any}', none: 'status' },
    { like: '{message}|[{id}]|[{satellites}]|>R{unread}{any}', unknown: 'position' },
    { like: '{message}|[{id}]|[{satellites}]|>{any}', unknown: 'type' },
  ],
})

/** Parts with names (ID=, SV=) come in any order: those that are read are put in front, what answers repeat first. */
function identityFirst(text: string, session: Session, bytes: Buffer): string {
  check(text, session, bytes)
  const star = text.lastIndexOf('*')
  const parts = (star < 0 ? text : text.slice(0, star)).split(';')
  const id = parts.find((part) => part.startsWith('ID='))?.slice(3) ?? ''
  const satellites = parts.find((part) => part.startsWith('SV='))?.slice(3) ?? ''
  const message = parts.filter((part) => part.startsWith('#') || part.startsWith('ID=')).join(';')
  return `${message}|${id}|${satellites}|${text}`
}

/** TAIP's checksum covers * as well, Virloc's does not. */
function check(text: string, session: Session, bytes: Buffer): void {
  const star = text.lastIndexOf('*')
  if (star < 0) return
  const written = Number.parseInt(text.slice(star + 1), 16)
  const sum = xor(bytes.subarray(0, star))
  verify(written === sum || written === (sum ^ STAR), session)
}

/** Week, day and seconds, of the time that GPS began with. */
function readWhen(text: string, draft: Draft): void {
  const seconds = +text.slice(4, 5) * 86_400 + +text.slice(5)
  draft.time = GPS_EPOCH + +text.slice(0, 4) * WEEK + seconds * 1000
}

function answer(draft: Draft): string | undefined {
  const message = draft.text('message')
  if (!message.includes('#')) return draft.device
  if (message.includes('#IP')) return `>SAK;${message}<`
  const text = `>ACK;${message};*`
  return `${text}${xorOfText(text).toString(16).toUpperCase().padStart(2, '0')}<`
}
