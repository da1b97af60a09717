export { ByteReader, inflate } from './bytes.ts'
export {
  crc8Egts,
  crc16Arc,
  crc16CcittFalse,
  crc16Kermit,
  crc16Modbus,
  crc16X25,
  crc16Xmodem,
  sum8,
  verify,
  xor,
} from './checksum.ts'
export { DecodeError, type DecodeReason, eachReadable } from './errors.ts'
export { cut, endsWith, line, trimEnd } from './framing.ts'
export {
  decodeFrame,
  type Escaping,
  type Fix,
  type Framer,
  type HttpAnswer,
  type HttpRequest,
  type Integrity,
  type Match,
  type Message,
  type Protocol,
  repliesOf,
  type Session,
  type Settings,
  sessionState,
  type Transport,
} from './protocol.ts'
export {
  digitsOf,
  type JsonObject,
  number,
  numberOf,
  objectOf,
  optionalNumberOf,
  parseJson,
  TextReader,
} from './text.ts'
export {
  degreesMinutes,
  heading,
  kmh,
  knots,
  known,
  mph,
  rfc3339,
  unixTime,
  utc,
  utcDmy,
  utcYmd,
} from './units.ts'
