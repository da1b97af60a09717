export { ByteReader } from './bytes.ts'
export {
  crc8Egts,
  crc16Arc,
  crc16CcittFalse,
  crc16Kermit,
  crc16Modbus,
  crc16X25,
  crc16Xmodem,
  sum8,
  xor,
} from './checksum.ts'
export { cut } from './cut.ts'
export { DecodeError, type DecodeReason } from './errors.ts'
export { endsWith, line, trimEnd } from './frame.ts'
export { inflate } from './inflate.ts'
export { digitsOf, type JsonObject, numberOf, objectOf, optionalNumberOf, parseJson } from './json.ts'
export type {
  Fix,
  Framer,
  HttpRequest,
  Match,
  Message,
  Protocol,
  Session,
  Settings,
  Transport,
} from './protocol.ts'
export { eachReadable } from './several.ts'
export { number, TextReader } from './text.ts'
export { rfc3339, unixTime, utc, utcDmy, utcYmd } from './time.ts'
export { degreesMinutes, heading, kmh, knots, known, mph } from './units.ts'
