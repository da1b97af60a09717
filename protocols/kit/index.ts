export { clock } from './answer.ts'
export { assemble } from './assembly.ts'
export { BitReader, signMagnitude, splitBits } from './bits.ts'
export { ByteReader, inflate, packedNumber, zigzag } from './bytes.ts'
export {
  crc,
  crc8Egts,
  crc8Maxim,
  crc8Smbus,
  crc16Arc,
  crc16CcittFalse,
  crc16Kermit,
  crc16Mcrf4xx,
  crc16Modbus,
  crc16X25,
  crc16Xmodem,
  crc32,
  sum8,
  sum16,
  verified,
  verifiedHex,
  verify,
  xor,
  xorOfText,
} from './checksum.ts'
export { cut, decodeFrame, repliesOf } from './decoding.ts'
export { dialects } from './dialects.ts'
export { Draft } from './draft.ts'
export { drawn, type Fields } from './drawn.ts'
export { DecodeError, type DecodeReason, eachReadable, enveloped, readableFixes } from './errors.ts'
export { escaped, unescape, withEscapes } from './escaping.ts'
export { GGA, GLL, RMC } from './fields.ts'
export {
  between,
  endsWith,
  fixedLength,
  isEndless,
  lengthField,
  line,
  startsWith,
  trimEnd,
  whole,
} from './framing.ts'
export { jsonObjects } from './json-frame.ts'
export { type JsonPath, jsonPathText, parseJsonPath } from './json-path.ts'
export { entriesMessage, jsonFix, jsonProtocol, jsonTime, placedFix } from './json-protocol.ts'
export { lorawanUplink } from './lorawan.ts'
export {
  isJson,
  MAPPING_PREFIX,
  type MappingDescription,
  mappingProtocol,
  TIME_FORMATS,
} from './mapping.ts'
export { EndSearch, type Mark, Marks } from './marks.ts'
export { rmcFix } from './nmea.ts'
export { concoxFix, flagged, maskedRecords, packedFix } from './positions.ts'
export {
  type Covered,
  type Escaping,
  type Fix,
  type Framer,
  type HttpAnswer,
  type HttpRequest,
  type Match,
  type Message,
  noSettings,
  type Protocol,
  type Sealed,
  type Session,
  type Settings,
  type Setup,
  type Stream,
  StreamState,
  sessionState,
  type Transport,
  type UnfinishedMessage,
} from './protocol.ts'
export { queclinkFrames } from './queclink.ts'
export { ALARMS, type Alarm, alarmsIn, alarmsOf, type Said, said } from './said.ts'
export { tlv } from './tagged.ts'
export {
  digitsOf,
  hexadecimal,
  type JsonObject,
  number,
  numberOf,
  objectOf,
  optionalNumber,
  optionalNumberOf,
  pairs,
  parseJson,
  TextReader,
} from './text.ts'
export { beginningsOf, textProtocol } from './text-protocol.ts'
export {
  bcdYmd,
  bytesDmy,
  bytesYmd,
  isBcdYmd,
  isBytesDmy,
  secondsSince,
  timeOfDayNear,
  withoutYearNear,
} from './times.ts'
export {
  degreesMinutes,
  digitsDegreesMinutes,
  dop,
  finite,
  heading,
  imeiOf14,
  kmh,
  knots,
  known,
  mph,
  radians,
  rfc3339,
  unixTime,
  utc,
  utcDmy,
  utcYmd,
} from './units.ts'
export {
  bodyText,
  fixesByDevice,
  jsonBody,
  numericMember,
  numericParameter,
  objectMember,
  optionalParameter,
  parametersOf,
  textMember,
  xmlElements,
  xmlText,
} from './web.ts'
export { ByteWriter, digitsOfTime, TextWriter } from './writer.ts'
