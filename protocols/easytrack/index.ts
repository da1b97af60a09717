/*
 * Easytrack E3, ET-300 and others (Huizhou Easytrack). No specification is known: inferred from frames. TCP, text; times,
 * coordinates, speed and course are hexadecimal:
 *
 *   *ET,I,HB,A,YYMMDD,hhmmss,YYYYYYYY,OOOOOOOO,SSSS,CCCC,FFFFFFFF,g,b,f,o[,H[,r,…,s]]#     position; DW: the answer to a request
 *   *ET,I,TX,…#     *ET,I,MQ#                                                              heartbeat, login
 *   *ET,I,OB,…#                                                                            OBD; BD$V: the vehicle's battery, V
 *
 *   I  IMEI                  Y, O  1/600,000 degrees, the highest bit: south, west     H  metres
 *   A  A: valid, V: not      S  km/h × 100                                             s  satellites, behind four more fields
 *   C  degrees × 100         F  state, bit 23: ignition; r of HB has a driver's card of 10 digits as its second field
 *
 * Answer to TX and MQ: the same line; to positions of a device of `model: E3+4G`: *ET,I,HB,ACK# with their type.
 */
import { type Draft, endsWith, kmh, type Session, signMagnitude, textProtocol } from '../kit/index.ts'

const hex = (text: string) => Number.parseInt(text, 16)
const IGNITION = 0x0080_0000
const angle = (text: string) => signMagnitude(hex(text), 32) / 600_000
const fix = (draft: Draft, session: Session) => draft.fix(session)
const PLACE = '{valid},{date},{time},{south},{west},{velocity},{direction},{state},{any:4}'

export default textProtocol({
  name: 'easytrack',
  devices: 'Easytrack E3, E3+4G, ET-300 and others',
  acknowledges: 'some',
  port: 5056,
  frame: endsWith('#', '#\r\n', '\r\n'),
  ends: '#',
  fields: {
    kind: { like: '[A-Z]{2}' },
    echo: { like: 'TX|MQ' },
    rest: {},
    date: { like: '[0-9A-Fa-f]{6}', read: readDate },
    time: { like: '[0-9A-Fa-f]{6}', read: readTime },
    south: { like: '[0-9A-Fa-f]{8}', read: (text: string, draft: Draft) => void (draft.latitude = angle(text)) },
    west: { like: '[0-9A-Fa-f]{8}', read: (text: string, draft: Draft) => void (draft.longitude = angle(text)) },
    velocity: {
      like: '[0-9A-Fa-f]{1,4}',
      read: (text: string, draft: Draft) => void (draft.speed = kmh(hex(text) / 100)),
    },
    state: { read: readState },
    card: { read: (text: string, draft: Draft) => /^\d{10}$/.test(text) && draft.says({ driver: text }) },
    direction: { like: '[0-9A-Fa-f]{1,4}', read: readDirection },
  },
  lines: [
    { like: `*ET,{imei},{kind},${PLACE},{altitude},{any},{card},{any:2},{satellites}[,{any}]`, fix, answer },
    { like: `*ET,{imei},{kind},${PLACE}[,{altitude}[,{any}]]`, fix, answer },
    {
      like: '*ET,{imei},{kind},{valid},{date},{time},{south},{west},{velocity},{direction}[,{state}[,{any}]]',
      fix,
      answer,
    },
    { like: '*ET,{imei},{echo}{rest}', none: 'heartbeat', answer: '*ET,{id},{echo}{rest}#' },
    { like: '*ET,{imei},OB,BD$V{externalVolts};{any}', none: 'status' },
    { like: '*ET,{imei},OB,{any}', none: 'status' },
    { like: '*ET,{imei},{any}', unknown: 'type' },
  ],
})

function answer(draft: Draft, session: Session): string | undefined {
  return session.settingsOf(draft.device).model === 'E3+4G'
    ? `*ET,${draft.device},${draft.text('kind')},ACK#`
    : undefined
}

function readDate(text: string, draft: Draft): void {
  draft.year = 2000 + hex(text.slice(0, 2))
  draft.month = hex(text.slice(2, 4))
  draft.day = hex(text.slice(4))
}

function readTime(text: string, draft: Draft): void {
  draft.clock = ((hex(text.slice(0, 2)) * 60 + hex(text.slice(2, 4))) * 60 + hex(text.slice(4))) * 1000
}

function readState(text: string, draft: Draft): void {
  if (/^[\da-f]{8}$/i.test(text)) draft.says({ ignition: (hex(text) & IGNITION) !== 0 })
}

function readDirection(text: string, draft: Draft): void {
  const degrees = hex(text) / 100
  if (degrees <= 360) draft.heading = degrees % 360
}
