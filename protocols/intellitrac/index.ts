/*
 * IntelliTrac X1, P1, A series (Systems & Technology): "IntelliTrac X Series Protocol Document" 1.1.0
 * (traccar.org/protocol/5037-intellitrac), as far as the frames show it. TCP, text, and a binary
 * frame that keeps the connection:
 *
 *   [$RP:][n,]I,YYYYMMDDhhmmss,O,Y,S,C,H,s,e,…     position
 *   FA F8 nnnn IIIIIIII                            keep-alive
 *
 *   n  transaction     O, Y  decimal degrees     C  degrees     s  satellites
 *   I  id              S     km/h                H  metres      e  event
 *
 * Answer to the keep-alive: the same bytes.
 */
import { dialects, fixedLength, line, type Message, type Protocol, textProtocol } from '../kit/index.ts'

const PLACE = '{id},{yyyymmdd}{hhmmss},{lon},{lat},{speedKmh},{course}[,{altitude}[,{satellites}[,{any}]]]'

const text = textProtocol({
  name: 'intellitrac',
  devices: 'IntelliTrac X1, X8, P1, A1 and others',
  port: 5037,
  fields: { id: { like: '\\d+' }, transaction: { like: '\\d+' } },
  lines: [
    { like: PLACE },
    { like: `{transaction},${PLACE}` },
    { like: `$RP:{transaction},${PLACE}` },
    { like: '[{transaction},]{id},{yyyymmdd}{hhmmss},{any}', unknown: 'position' },
    { like: '${any}', unknown: 'type' },
  ],
})

const { frame, decode } = dialects([
  { when: Buffer.of(0xfa, 0xf8), frame: fixedLength(8), decode: keepAlive },
  { frame: line, decode: text.decode },
])

export default { ...text, tcp: { port: 5037, frame }, decode } satisfies Protocol

function keepAlive(bytes: Buffer): Message {
  return { none: 'heartbeat', reply: bytes }
}
