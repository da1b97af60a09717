/*
 * JMAK trackers. No specification is known: inferred from frames, which come in three forms. In two of them the bits of a mask,
 * from the lowest on, say which fields follow; a second group with a mask of its own may follow, which is not read.
 *
 *   ~MASK;field;field;…|MASK;field;…$          text, the mask in hexadecimal digits
 *   ^ mask fields… mask fields… $              binary, big-endian, the mask of 8 bytes
 *   {"imei":…,"ts":…,"gps":[…,…],…}            JSON
 *
 *   bit, bytes of the field:   0 serial number, 11    5 latitude, 4      10 satellites, 1    15 ?, 2
 *                              1 IMEI, 8              6 longitude, 4     11 signal, 1        16 hours, 4
 *                              2 counter, 4           7 altitude, 3      12 HDOP, 2          17 odometer, 4
 *                              3 name, 10             8 ?, 1             13 heading, 2       21, 22 power, battery, mV (in text)
 *                              4 ms UTC, 8            9 speed, 3         14 inputs, 2: bit 0 ignition
 *
 * Text and JSON have degrees, metres, km/h. Binary fields are 1e-5 degrees, 1/100 of the others. Their degrees have no sign:
 * field 8 has it, of which 0B alone is known, south and west. Frames with another value are stored unread.
 *
 * Answer: ACK.
 */
import {
  ByteReader,
  DecodeError,
  dialects,
  dop,
  EndSearch,
  endsWith,
  enveloped,
  type Framer,
  heading,
  jsonObjects,
  kmh,
  type Message,
  number,
  optionalNumber,
  type Protocol,
  said,
  unixTime,
} from '../kit/index.ts'
import json from './json.ts'

const framed = dialects([
  { when: '~', frame: endsWith('$'), decode: text },
  { when: '^', frame: binaryFrame(), decode: binary },
  { when: '{', frame: jsonObjects(), decode: json.decode },
])

export default {
  ...json,
  tcp: { port: 5259, frame: framed.frame },
  decode: framed.decode,
} satisfies Protocol

const reply = Buffer.from('ACK')
const HEAD = 9
const WIDTHS = [11, 8, 4, 10, 8, 4, 4, 3, 1, 3, 1, 1, 2, 2, 2]
/** Fields of text that are read. */
const TEXT_FIELDS = Array.from({ length: 23 }, (_, field) => field)
const [IMEI, TIME, LATITUDE, LONGITUDE, ALTITUDE, SIGNS, SPEED, SATELLITES, HDOP, HEADING, INPUTS] = [
  1, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14,
]
const [POWER, BATTERY] = [21, 22]
const SOUTH_WEST = 0x0b

/**
 * A frame ends at the first $ behind the fields that are read. If a field behind them contains the byte $, the frame
 * ends there, and its rest is skipped.
 */
function binaryFrame(): Framer {
  const end = new EndSearch('$')
  return (bytes, session) => {
    if (bytes.length < HEAD) return 0
    const has = hasFields(bytes.toString('hex', 1, HEAD))
    const length = WIDTHS.reduce((sum, width, field) => sum + (has(field) ? width : 0), HEAD)
    return bytes.length <= length ? 0 : end.after(bytes, length, session)
  }
}

/** Whether a mask in hexadecimal digits has a field. */
function hasFields(mask: string): (field: number) => boolean {
  if (!/^[0-9A-Fa-f]{1,16}$/.test(mask)) throw new DecodeError('malformed', `"${mask.slice(0, 40)}" is not a mask`)
  const bits = BigInt(`0x${mask}`)
  return (field) => ((bits >> BigInt(field)) & 1n) === 1n
}

function text(frame: Buffer): Message {
  const [first] = frame.toString('latin1', 1, frame.length).split(/[|$]/, 1)
  const [mask, ...parts] = first.split(';', 40)
  const has = hasFields(mask)
  const fields = TEXT_FIELDS.map((field) => (has(field) ? (parts.shift() ?? '') : ''))
  const placed = (field: number) => (fields[field] === '' ? undefined : number(fields[field]))
  const value = (field: number) => optionalNumber(fields[field])
  const device = fields[IMEI] || undefined
  return enveloped({ device, reply }, () => {
    const latitude = placed(LATITUDE)
    const longitude = placed(LONGITUDE)
    const time = placed(TIME)
    if (latitude === undefined || longitude === undefined || time === undefined) return { none: 'no place' }
    const fix = {
      time: unixTime(time),
      latitude,
      longitude,
      valid: true,
      altitude: value(ALTITUDE),
      speed: speedOf(value(SPEED)),
      heading: heading(value(HEADING)),
      hdop: dop(value(HDOP)),
      satellites: value(SATELLITES),
      said: said({
        ignition: ignitionOf(value(INPUTS)),
        external_voltage: voltsOf(value(POWER)),
        battery_voltage: voltsOf(value(BATTERY)),
      }),
    }
    return { fixes: [fix] }
  })
}

const ignitionOf = (inputs: number | undefined) => (inputs === undefined ? undefined : (inputs & 1) !== 0)
const voltsOf = (value: number | undefined) => (value === undefined ? undefined : value / 1000)
const speedOf = (value: number | undefined) => (value === undefined ? undefined : kmh(value))

function binary(frame: Buffer): Message {
  const r = new ByteReader(frame).skip(1)
  const has = hasFields(r.hex(8))
  const fields = WIDTHS.map((width, field) => (has(field) ? r.slice(width) : undefined))
  const value = (field: number, scale = 1) => {
    const bytes = fields[field]
    return bytes && new ByteReader(bytes).uint(Math.min(bytes.length, 6)) / scale
  }
  const imei = fields[IMEI]
  const device = imei && new ByteReader(imei).digits64()
  const latitude = value(LATITUDE, 1e5)
  const longitude = value(LONGITUDE, 1e5)
  const time = fields[TIME] && new ByteReader(fields[TIME]).u64()
  if (latitude === undefined || longitude === undefined || time === undefined)
    return { device, none: 'no place', reply }
  if (value(SIGNS) !== SOUTH_WEST) return { device, fixes: [], reply }
  const fix = {
    time,
    latitude: -latitude,
    longitude: -longitude,
    valid: true,
    altitude: value(ALTITUDE, 100),
    speed: speedOf(value(SPEED, 100)),
    heading: heading(value(HEADING, 100)),
    hdop: dop(value(HDOP, 100)),
    satellites: value(SATELLITES),
    said: said({ ignition: ignitionOf(value(INPUTS)) }),
  }
  return { device, fixes: [fix], reply }
}
