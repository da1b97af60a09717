/*
 * Techto Cruz trackers (Kenya). No specification is known: inferred from frames. TCP, lines:
 *
 *   $$AL,I,YYMMDDhhmmss,A,m,p,S,o,Y,N,O,E,H,C,s,g,V,B,…,*XX     position
 *   $$AL,RESPO|…|I|CRUZ,*XX                               answer to a command
 *
 *   L  length up to the *     A  A: valid, V: not     S  km/h             H  metres       s  satellites
 *   I  id                     m  model, p  plate      Y, O  degrees       C  degrees      X  sum of everything before the *
 *   g  signal                 V  external voltage        B  battery, V
 *
 * Nothing is answered.
 */
import { textProtocol } from '../kit/index.ts'

export default textProtocol({
  name: 'techtocruz',
  devices: 'Techto Cruz trackers',
  integrity: { sum: 'sum8', to: '*', digits: 2 },
  port: 5234,
  frame: frameLength,
  fields: { length: { like: '\\d+' } },
  lines: [
    {
      like: '$$A{length},{id},{ymd}{hhmmss},{valid},{any:2},{speedKmh},{any},{lat},{ns},{lon},{ew},{altitude},{course},{satellites}[,{any},{externalVolts},{batteryVolts}],{any}',
    },
    { like: '$$A{length},RESPO|{any}', none: 'command answer' },
    { like: '$$A{length},{id},{any}', unknown: 'type' },
  ],
})

/** The length counts from the beginning of the frame to the *, which two digits follow. */
function frameLength(bytes: Buffer): number {
  const [head = '', digits] = /^\$\$A(\d{1,4}),|^\$?\$?A?\d{0,4}$/.exec(bytes.toString('latin1', 0, 8)) ?? []
  if (digits !== undefined) return bytes.length < +digits + 3 ? 0 : +digits + 3
  if (head !== '' && head.length === bytes.length) return 0
  const next = bytes.indexOf('$$A', 1)
  return next < 0 ? -Math.max(Math.min(1, bytes.length), bytes.length - 2) : -next
}
