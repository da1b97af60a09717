/*
 * Trackers that speak TAIP, Trimble's ASCII interface protocol (Trimble Placer, Sierra Wireless, CalAmp LMU, Virloc, Antares).
 * "TAIP reference" of Trimble's Lassen manuals, the manuals of Virtual Tec for RGP … RUV, that of the Lantrix T1800 for the
 * speed of RGP and RTT, "TrimTrac 1.5 Technical Manual" (Trimble), tables 13 and 66, for RTK. TCP and UDP, text:
 *
 *   >RPVsssssYYYYYYYYOOOOOOOOOSSSCCCqa[;…];ID=I;*XX<                      position, s: seconds of the day
 *   >REVeewwwwdsssssYYYYYYYYOOOOOOOOOSSSCCCqa…                            event, w: GPS week, d: day of the week
 *   >RGPDDMMYYhhmmssYYYYYYYYOOOOOOOOOSSSCCCqaabb[ee[PP]];ID=I;#n;*XX<     Virloc's position
 *   >RTT… >RPI… >RCVee… >RUSee,… >RUVeeeee,t,…                                  others with the same fields, DDMMYY to PP
 *   >RCQeeDDMMYYhhmmss…CCCbb…                                       others with the same beginning
 *   >RLNsssssmmmyyyyyyyyyyoooooooooooHHHHHHHHHSSSSvvvvvCCCC## (NN00)… x{10} qa   position: y, o degrees × 10,000,000, signed;
 *       H feet × 100, signed; S, v, C tenths; # satellites, and each of them
 *   >RCPsssssYYYYYYYOOOOOOOOqa                                        position: Y, O degrees × 10,000, signed
 *   >RTKPxxxxxBBBxwwwwssssssFx[x{10}]yyyyyyyyyyoooooooooooHHHHHHSSSCCC   position of TrimTrac, RTKS without one, not answered:
 *       B battery, %; w GPS week, s its second; F 0 or 1: a fix; y, o as in RLN; H feet, signed
 *
 *   Y, O  degrees × 100,000, signed; of RGP also ddmm.mmmm, dddmm.mmmm
 *   b     inputs, bit 7: ignition       q  source of RPV and REV, 9: none; of the others 0 and 9: no fix
 *   S     mph; of RGP, RTT, RUV km/h    P  HDOP                   n  number of the message
 *   C     degrees                       SV  satellites            X  exclusive or of what precedes
 *   IO    of its first digit bit 0: ignition, bit 1: charged (inferred)        BL  battery, mV
 *
 * Two fields behind RUS stand the external voltage and that of the battery, of four digits each, 0.01 V; behind RUV battery
 * and external one.
 *
 *   Answer: >ACK;ID=I;#n;*XX<, with the parts in the order of the message; >SAK;ID=I;#n< where n begins with IP; I without n.
 *
 * Times of REV are UTC: no leap seconds are taken off.
 */
import {
  degreesMinutes,
  type Draft,
  between,
  optionalNumber,
  type Session,
  textProtocol,
  verify,
  xor,
  xorOfText,
} from '../kit/index.ts'

const PLACE = '{lat:8/1e5}{lon:9/1e5}{speedMph:3}{course:3}'
const PV = `${PLACE}{source}{age}{any}`
const STATE = '{fixed}[{hex}[{inputs}[{event}[{hdop:2}]]]]'
const GP = `{dmy}{hhmmss}${PLACE}${STATE}`
/** The same with a speed in km/h. */
const GP_KMH = `{dmy}{hhmmss}{lat:8/1e5}{lon:9/1e5}{speedKmh:3}{course:3}${STATE}`
/** What `identityFirst` puts in front of a message. */
const PARTS = '{message}|[{id}]|[{satellites}]|{io}|{millivolts}|'
const STAR = 0x2a
/** Metres. */
const CENTIFOOT = 0.003048
const WEEK = 604_800_000
const GPS_EPOCH = Date.UTC(1980, 0, 6)

/** Messages with a number are acknowledged, whatever they are. */
const numbered = (draft: Draft) => (draft.text('message').includes('#') ? answer(draft) : undefined)

export default textProtocol({
  name: 'taip',
  devices: 'Trimble Placer, TrimTrac, Sierra Wireless, CalAmp, Virloc, Antares',
  acknowledges: 'fixes',
  integrity: { checksum: 'XOR', covers: (frame) => [0, Math.max(0, frame.lastIndexOf('*'))] },
  port: 5031,
  transports: ['tcp', 'udp'],
  frame: between('>', '<'),
  ends: '<',
  before: identityFirst,
  fields: {
    seconds: { like: '\\d{5}', read: (text: string, draft: Draft) => void (draft.clock = +text * 1000) },
    when: { like: '\\d{10}', read: readWhen },
    source: { like: '\\d', read: (text: string, draft: Draft) => void (draft.valid = text !== '9') },
    fixed: { like: '\\d', read: (text: string, draft: Draft) => void (draft.valid = text !== '0' && text !== '9') },
    age: { like: '\\d' },
    milliseconds: { like: '\\d{8}', read: (text: string, draft: Draft) => void (draft.clock = +text) },
    report: { like: '[0-9A-F]{4}\\d' },
    secondOfWeek: {
      like: '[TF]\\d{10}',
      read: (text, draft) => void (draft.time = GPS_EPOCH + +text.slice(1, 5) * WEEK + +text.slice(5) * 1000),
    },
    located: { like: '\\d\\d', read: (text, draft) => void (draft.valid = text[0] < '2') },
    states: { like: '[0-9A-Z]{10}' },
    wholeFeet: { like: '[-+]\\d{5}', read: (text, draft) => void (draft.altitude = +text * CENTIFOOT * 100) },
    feet: { like: '[-+]\\d{8}', read: (text: string, draft: Draft) => void (draft.altitude = +text * CENTIFOOT) },
    vertical: { like: '[-+]\\d{4}' },
    used: { like: '\\d{2}', read: (text: string, draft: Draft) => void (draft.satellites = +text) },
    each: { read: (text: string, draft: Draft) => void (draft.valid = /^\d+/.exec(text)?.[0].at(-2) !== '9') },
    event: { like: '\\d{2}' },
    hex: { like: '[0-9A-Fa-f]{2}' },
    kind: { like: '[A-Z]' },
    status: { like: '[A-Z]' },
    message: {},
    external: { read: (text: string, draft: Draft) => draft.says({ external_voltage: +text / 100 }), like: '\\d{4}' },
    battery: { read: (text: string, draft: Draft) => draft.says({ battery_voltage: +text / 100 }), like: '\\d{4}' },
    inputs: {
      like: '[0-9A-Fa-f]{2}',
      read: (text, draft) => draft.says({ ignition: (Number.parseInt(text, 16) & 0x80) !== 0 }),
    },
    io: { read: readInputs },
    millivolts: {
      read: (text, draft) => draft.says({ battery_voltage: optionalNumber(text, (value) => value / 1000) }),
    },
    latNmea: { like: '[-+]\\d{4}\\.\\d{4}', read: (text, draft) => void (draft.latitude = degreesMinutes(+text)) },
    lonNmea: { like: '[-+]\\d{5}\\.\\d{4}', read: (text, draft) => void (draft.longitude = degreesMinutes(+text)) },
  },
  lines: [
    { like: `${PARTS}>RPV{seconds}${PV}`, answer },
    { like: `${PARTS}>REV{event}{when}${PV}`, answer },
    { like: `${PARTS}>RGP{dmy}{hhmmss}{latNmea}{lonNmea}{speedKmh:3}{course:3}${STATE}{any}`, answer },
    { like: `${PARTS}>RGP${GP_KMH}{any}`, answer },
    { like: `${PARTS}>RPI${GP}{any}`, answer },
    { like: `${PARTS}>RTT${GP_KMH}{any}`, answer },
    { like: `${PARTS}>RCV{event}${GP}{any}`, answer },
    { like: `${PARTS}>RC{kind}{event}{dmy}{hhmmss}${PLACE}[{inputs}]{any}`, answer },
    { like: `${PARTS}>R{kind}{status}{event}{dmy}{hhmmss}${PLACE}{any}`, answer },
    { like: `${PARTS}>RU{status}{event},${GP}[,{any:2},{external}{battery}]{any}`, answer },
    {
      like: `${PARTS}>RUV{any},{any},{dmy}{hhmmss}{lat:8/1e5}{lon:9/1e5}{speedKmh:3}{course:3}${STATE}[,{battery}{external},]{any}`,
      answer,
    },
    { like: `${PARTS}>RAL{any}`, none: 'status', answer: numbered },
    {
      like: `${PARTS}>RLN{milliseconds}{lat:10/1e7}{lon:11/1e7}{feet}{speedMph:4/10}{vertical}{course:4/10}{used}{each}`,
      answer,
    },
    { like: `${PARTS}>RCP{seconds}{lat:7/1e4}{lon:8/1e4}{source}{age}{any}`, answer },
    {
      like: `${PARTS}>RTKP{report}{batteryPercent:3}{secondOfWeek}{located}[{states}]{lat:10/1e7}{lon:11/1e7}{wholeFeet}{speedMph:3}{course:3}{any}`,
    },
    { like: `${PARTS}>RTKS{report}{batteryPercent:3}{any}`, none: 'no fix' },
    { like: `${PARTS}>RLN{any}`, unknown: 'position', answer: numbered },
    { like: `${PARTS}>{any}`, unknown: 'type', answer: numbered },
  ],
})

/** Parts with names (ID=, SV=) come in any order: those that are read are put in front, what answers repeat first. */
function identityFirst(text: string, session: Session, bytes: Buffer): string {
  check(text, session, bytes)
  const star = text.lastIndexOf('*')
  const parts = (star < 0 ? text : text.slice(0, star)).split(';')
  const named = (name: string) => parts.find((part) => part.startsWith(name))?.slice(3) ?? ''
  const message = parts.filter((part) => part.startsWith('#') || part.startsWith('ID=')).join(';')
  return `${message}|${named('ID=')}|${named('SV=')}|${named('IO=')}|${named('BL=')}|${text}`
}

/** TAIP's checksum covers * as well, Virloc's does not. */
function check(text: string, session: Session, bytes: Buffer): void {
  const star = text.lastIndexOf('*')
  if (star < 0) return
  const written = Number.parseInt(text.slice(star + 1), 16)
  const sum = xor(bytes.subarray(0, star))
  verify(written === sum || written === (sum ^ STAR), session)
}

function readInputs(text: string, draft: Draft): void {
  if (!/^\d/.test(text)) return
  draft.says({ ignition: (+text[0] & 1) !== 0 })
  if (+text[0] & 2) draft.says({ charging: true })
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
