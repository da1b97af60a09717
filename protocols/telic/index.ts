/*
 * Telic SBC-AVL, Picotrack. No specification is known: inferred from frames. TCP, text that ends with NUL; in front of it four
 * bytes with its length, little-endian, or nothing:
 *
 *   hhhhIII…,T,n,DDMMYYhhmmss,O,Y,f,S,C,s,…     position
 *   hhhhIIIname,x,x,DDMMYYhhmmss,O,Y,f,S,C,s,…  position
 *   hhhhIII…|mcc|mnc|…                          login
 *
 *   h  kind            T  time of the report     O, Y  1e-6 degrees; 1e-4 if Y has up to six digits and O seven     S  km/h
 *   I  6 or 15 digits  f  1: no fix, 2, 3        s     satellites                                                C  degrees
 *
 * Behind I may stand an event of two digits: 24 stopped, 25 started moving, 22 battery low (inferred). 24 and 25 are their
 * places among the 32 digits that choose events in the manual of the SBC AVL 4G. The eighth field behind s is the battery of a Picotrack, mV (four digits);
 * other models have an input of 0 to 255 there.
 *
 * Nothing is answered.
 */
import {
  DecodeError,
  dialects,
  endsWith,
  enveloped,
  type Fix,
  heading,
  kmh,
  known,
  lengthField,
  type Message,
  number,
  optionalNumber,
  type Protocol,
  type Said,
  said,
  TextReader,
  trimEnd,
  utcDmy,
} from '../kit/index.ts'

const { frame } = dialects([
  { when: hasLength, frame: lengthField({ at: 0, width: 4, endian: 'little', add: 4 }) },
  { frame: endsWith('\0') },
])

export default {
  name: 'telic',
  devices: 'Telic SBC-AVL, SBC3, Picotrack',
  tcp: { port: 5067, frame },
  decode,
} satisfies Protocol

/** The high bytes of a length are zero; a text has at least ten characters. */
function hasLength(bytes: Buffer): boolean | 'maybe' {
  if (bytes.length < 4) return bytes[0] === undefined || bytes[0] !== 0 ? 'maybe' : false
  return bytes[0] !== 0 && bytes[2] === 0 && bytes[3] === 0
}

const HEAD = /^\d{4}(?:(\d{15})\d{0,3}|(\d{6})\d*)(?=,|$)/
/** Of a type that has a name, laid out as the others are. */
const NAMED = /^\d{4}(\d{6})[A-Z][^,|]{0,40}(?=,[^,]*,[^,]*,\d{12},-?\d{1,9},-?\d{1,9},\d,)/
const LOGIN = /^\d{4}(\d{15}|\d{6})[^,|]{0,40}\|/
/** The events behind an id. */
const EVENT = /^\d{4}(?:\d{6}|\d{15})(22|24|25)$/
const EVENTS: Readonly<Record<string, Said | undefined>> = {
  22: { alarms: ['low_battery'] },
  24: { moving: false },
  25: { moving: true },
}
const OTHER = /^\d{4}(\d{6})/

function decode(bytes: Buffer): Message {
  const text = trimEnd(hasLength(bytes) === true ? bytes.subarray(4) : bytes).toString('latin1')
  const login = LOGIN.exec(text)
  if (login) return { device: login[1], none: 'login' }
  const [head, long, short] = HEAD.exec(text) ?? named(text)
  if (head === undefined) {
    const other = OTHER.exec(text)
    if (!other) throw new DecodeError('unsupported')
    return { device: other[1], fixes: [] }
  }
  return enveloped({ device: long ?? short }, () => {
    const fix = fixOf(new TextReader(text.slice(head.length + 1), ','), EVENTS[EVENT.exec(head)?.[1] ?? ''])
    return fix ? { fixes: [fix] } : { none: 'no place' }
  })
}

/** The head of a named type, in the form of the others. */
function named(text: string): readonly (string | undefined)[] {
  const [head, id] = NAMED.exec(text) ?? []
  return [head, undefined, id]
}

function fixOf(r: TextReader, event: Said | undefined): Fix | undefined {
  r.skip(2)
  const time = r.next()
  const longitude = r.next()
  const latitude = r.next()
  const quality = r.optionalNumber() ?? 0
  const speed = known(r.optionalNumber())
  const course = r.optionalNumber()
  const satellites = known(r.optionalNumber())
  const battery = optionalNumber(r.rest().split(',', BATTERY + 1)[BATTERY]) ?? 0
  if (longitude === '' || latitude === '') return undefined
  // Both have the same unit: 90° have six digits of 1e-4 degrees, 180° seven.
  const unit = digits(latitude) <= 6 && digits(longitude) <= 7 ? 1e4 : 1e6
  return {
    time: utcDmy(time.slice(0, 6), time.slice(6)),
    latitude: number(latitude) / unit,
    longitude: number(longitude) / unit,
    valid: quality > 1,
    speed: speed === undefined ? undefined : kmh(speed),
    heading: heading(course),
    satellites,
    said: said({ ...event, battery_voltage: battery > INPUT_MOST ? battery / 1000 : undefined }),
  }
}

/** Its place behind the satellites. */
const BATTERY = 7
const INPUT_MOST = 255

const digits = (text: string) => text.replace('-', '').length
