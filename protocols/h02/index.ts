/*
 * H02: Sinotrack ST-901, ST-906, Huabao, LK109, LK209 and their clones. "GPRS communication protocol H02", TCP and UDP, no
 * checksum. Text, or packed decimals in a frame of fixed length:
 *
 *   *HQ,I,V1,T,A,Y,N,O,E,S,C,[b,]D,F[,…]#        position; V2, V6, V8, V19 … alike
 *   *HQ,I,V4,command[,…],T,T,A,Y,N,O,E,S,C,D,F#  answer to a command; the second T is the position's
 *   *HQ,I,VP1,A,Y,N,O,E,S,C,D#                   position without a time of day
 *   *HQ,I,HTBT[,b]#   NBR (cells), LINK, V3, …   no position
 *
 *   24 IIIIIIIIII TTTTTT DDDDDD YYYYYYYY bb OOOOOOOOOh SSSCCC FFFFFFFF …   32 or 45 bytes; I of 8 bytes: 42 bytes
 *
 *   I  id                     O  longitude, dddmm.mmmm      S  speed, knots        h  hemisphere bits: 8 east, 4 north,
 *   T  hhmmss                 N, E  hemispheres             C  course, degrees        2 valid
 *   D  DDMMYY                 A  A: valid, V: not           b  battery             F  status
 *   Y  latitude, ddmm.mmmm    Answer to V1: *HQ,I,V4,V1,YYYYMMDDhhmmss#, to other positions: *HQ,I,R12,hhmmss#
 */
import { DecodeError, type Message, type Protocol, type Session } from '../kit/index.ts'
import { decodeBinary } from './binary.ts'
import { frameLength, starts } from './frame.ts'
import { decodeText } from './text.ts'

export default {
  name: 'h02',
  devices: 'Sinotrack ST-901, ST-906, LK109, LK209, TK110 and clones',
  acknowledges: 'some',
  tcp: { port: 5013, frame: frameLength, starts },
  udp: { port: 5013, frame: frameLength },
  decode,
} satisfies Protocol

function decode(frame: Buffer, session: Session): Message {
  const marker = frame[0]
  if (marker === 0x2a) return decodeText(frame, session)
  if (marker === 0x24 || marker === 0x58) return decodeBinary(frame, session)
  throw new DecodeError(frame.length === 0 ? 'truncated' : 'unsupported')
}
