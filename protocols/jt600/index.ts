/*
 * Jointech JT600, JT701, JT705, JT707, JT709 (padlocks, sensors): "JT600 Protocol" V1.8, "The Protocol of JT701 Product"
 * V3.6. TCP, no checksum.
 * Packed decimals in a frame of its length, or text between parentheses; within parentheses 3D and a code stand for a byte:
 * 15 for (, 14 for ), 11 for a comma, 00 for 3D.
 *
 *   24 IIIIIIIIII vt LLLL P… S             v version, t type; n times P of 27 bytes, L = 27·n
 *   24 IIIIIIIIII VV dt LLLL P… S          one P; d kind of device, above 0
 *   (I,n,s,WLNET,5,d,P…)                   a sensor of JT709
 *   (I,W01,O,E,Y,N,A,D,T,S,C,…)            Y, O of W01: ddmm.mmmm; S km/h
 *   (I,U01,D,T,A,Y,N,O,E,S,C,s,…)          U02, U03; U06 has a field more before D; Y, O: degrees, S miles/h
 *   (I,P45,D,T,Y,N,O,E,A,S,C,x,x,x,x,x,s…) lock event, s its serial number
 *   (I,U04)  (I,@JT)  (I,2,U09,…)          heartbeat, heartbeat, trip; in other types D,T,A … of U01 is looked for
 *   (I,1,001,BASE,2,TIME)          asks for the time: answer the same with YYYYMMDDhhmmss
 *   P  DDMMYY hhmmss ddmmmmmm dddmmmmmmF SS CC …    F: bit 0 fix, bit 1 north, bit 2 east; S knots, C 2°; then, of the
 *      first kind in version 1, satellites, charge, one byte, altitude in metres (what other versions have is not known);
 *      of the second mileage{4}, satellites, card{4}, status{2}, charge: its bit 5 wants an answer, bits 3 (rope cut), 4
 *      (vibration), 11 (low battery), 12 (back cap open) are alarms (Wialon, Jointech JT701D)
 *   charge  the battery's, %, above 100: on the charger; behind S, C (and satellites) in W01, U01–U06
 *   The third x of P45 is the driver's card.
 *
 * Answers: (S39) to U01–U03, (S20) to U06, (P69,0,s) to P45; where one is wanted (P69,0,S) from version 19 on, before (P35).
 */
import { between, dialects, lengthField, type Protocol } from '../kit/index.ts'
import { binary, isPadlock } from './binary.ts'
import { CODES, ESCAPE, text } from './text.ts'

const { frame, decode } = dialects([
  { when: '(', frame: between('(', ')'), decode: text },
  {
    when: isPadlock,
    frame: lengthField({ start: '$', at: 8, width: 2, add: 10, most: 2048 }),
    decode: (packet, session) => binary(packet, session, true),
  },
  {
    when: '$',
    frame: lengthField({ start: '$', at: 7, width: 2, add: 10, most: 2048 }),
    decode: (packet, session) => binary(packet, session, false),
  },
])

export default {
  name: 'jt600',
  devices: 'Jointech JT600, JT701, JT705, JT707, JT709',
  acknowledges: 'some',
  escaping: { escape: ESCAPE, codes: new Map(), optional: CODES },
  tcp: { port: 5014, frame },
  decode,
} satisfies Protocol
