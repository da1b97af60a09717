/*
 * Box tracker (Trackbox, Masternaut clones): "BOX tracker, communication protocol" v1.5 (Box Telematics), §3; the state is inferred
 * from frames. TCP, text, lines that end with CR:
 *
 *   H,BT,I,YYMMDDhhmmss,…                          login
 *   L,YYMMDDhhmmss,G,Y,O,S,C,o,e,f[;…]             position; L,T,AI1,… an input
 *   E,n                                            end of what is sent
 *
 *   I  id     Y, O  decimal degrees     C  degrees       e  event; 5: panic button (§6.31)
 *   S  km/h                             o  distance      f  state; bit 0 ignition, 1 moving, 2 no fix
 *
 * Answer to E: A,n
 */
import { type Draft, endsWith, textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'box',
  devices: 'Box trackers',
  port: 5065,
  frame: endsWith('\r', '\r\n'),
  fields: {
    number: { like: '\\d+' },
    event: { alarms: { 5: 'sos' } },
    state: { read: readState },
  },
  lines: [
    { like: 'L,{ymd}{hhmmss},G,{lat},{lon},{speedKmh},{course}[,{any}[,{event}[,{state}]]][;{any}]' },
    { like: 'H,{any},{id}[,{any}]', none: 'login' },
    { like: 'E,{number}', none: 'status', answer: 'A,{number}\r' },
    { like: 'L,{any},AI{any}', none: 'status' },
    { like: 'L,{any}', unknown: 'type' },
  ],
})

function readState(text: string, draft: Draft): void {
  const state = +text
  if (Number.isNaN(state)) return
  draft.valid = (state & 4) === 0
  draft.says({ ignition: (state & 1) !== 0, moving: (state & 2) !== 0 })
}
