import {
  alarmsOf,
  ByteReader,
  bytesYmd,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  optionalNumber,
  packedNumber,
  type Said,
  said,
  signMagnitude,
} from '../kit/index.ts'
import { ALERTS, EMERGENCIES } from './text.ts'

const FIX = 0x80
const SOUTH = 0x40
const WEST = 0x20
const SATELLITES = 0x1f
/** Reports with a position; events (12) lie between them. */
const STATUS = 0x10
const EMERGENCY = 0x11
const ALERT = 0x13
/** Bytes from the distance to the number of the alert, and from there to the end of the voltage of the backup battery. */
const BESIDE = 8
const BATTERY = 6
const IGNITION = 1

/** The message of a zip report of ST300. @throws DecodeError */
export function zip(frame: Buffer): Message {
  const r = new ByteReader(frame).skip(3)
  const type = r.u8()
  const device = idOf(r.bcd(5))
  return enveloped({ device }, () => (type < STATUS || type > ALERT ? {} : { fixes: [position(r, type)] }))
}

/** Nine digits, behind them a zero that fills up the last byte; or ten, the first of which is a zero. */
function idOf(digits: string): string {
  return !digits.startsWith('0') && digits.endsWith('0') ? digits.slice(0, -1) : digits
}

function position(r: ByteReader, type: number): Fix {
  const time = bytesYmd(r.skip(3))
  r.skip(3)
  const latitude = withDecimals(r.u8(), r.bcd(3))
  const longitude = withDecimals(r.u8(), r.bcd(3))
  const speed = optionalNumber(withDecimals(r.u16(), r.hex(1)), kmh)
  const course = heading(withDecimals(r.u16(), r.hex(1)))
  const flags = r.u8()
  return {
    time,
    latitude: flags & SOUTH ? -latitude : latitude,
    longitude: flags & WEST ? -longitude : longitude,
    valid: (flags & FIX) !== 0,
    speed,
    heading: course,
    satellites: flags & SATELLITES,
    said: r.left < BESIDE ? undefined : beside(r.skip(4), type),
  }
}

/** The voltage of the main power, the inputs and outputs, and what raised the report; the backup battery where it follows. */
function beside(r: ByteReader, type: number): Said | undefined {
  const external_voltage = withDecimals(r.u8(), r.hex(1))
  const ignition = (r.u8() & IGNITION) !== 0
  const id = r.u8()
  const hasBattery = type !== STATUS && r.left >= BATTERY
  return said({
    ignition,
    external_voltage,
    battery_voltage: hasBattery ? withDecimals(r.skip(4).u8(), r.hex(1)) : undefined,
    alarms: alarmsOf(type === EMERGENCY && EMERGENCIES[id], type === ALERT && ALERTS[id]),
  })
}

/** NaN where the digits are none. */
function withDecimals(integer: number, digits: string): number {
  return integer + (packedNumber(digits) ?? Number.NaN) / 10 ** digits.length
}

const UNIVERSAL_STATUS = 0x81
const UNIVERSAL_ALERT = 0x82
const UNIVERSAL_SCAN = 0xaa
/** Bytes of the fields of a Universal report, by their bits from the model (bit 1) on. */
const WIDTHS = [0, 1, 3, 1, 3, 3, 4, 2, 2, 2, 1, 4, 4, 2, 2, 1, 1, 1, 1, 1]
const DATE = 4
const TIME = 5
const LATITUDE = 11
const INPUTS = 17
const ALERT_ID = 19
/** Bytes of the beginning of a scan for sensors up to its date: model, version, status, parts, sensors. */
const SCAN_HEAD = 9

/** The message of a zip report of Universal. @throws DecodeError */
export function universalZip(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const type = r.u8()
  const device = r.skip(2).bcd(5)
  if (type === UNIVERSAL_SCAN) return enveloped({ device }, () => ({ fixes: [scan(r.skip(3 + SCAN_HEAD))] }))
  if (type !== UNIVERSAL_STATUS && type !== UNIVERSAL_ALERT) return { device }
  return enveloped({ device }, () => masked(frame, r, type))
}

/** The place of a scan for sensors: it has no flag of a fix, and begins behind the number of sensors. */
function scan(r: ByteReader): Fix {
  return { time: bytesYmd(r), latitude: angle(r), longitude: angle(r), valid: true }
}

const angle = (r: ByteReader): number => signMagnitude(r.u32(), 32) / 1e6

function masked(frame: Buffer, r: ByteReader, type: number): Message {
  const mask = r.u24()
  const places: (number | undefined)[] = []
  for (let bit = 1; bit < WIDTHS.length; bit++) {
    const isThere = ((mask >>> bit) & 1) === 1 && (bit < INPUTS || r.left > 0)
    places[bit] = isThere ? r.take(WIDTHS[bit]) : undefined
  }
  const at = (bit: number) => {
    const place = places[bit]
    return place === undefined ? undefined : new ByteReader(frame).at(place)
  }
  const latitude = at(LATITUDE)
  const longitude = at(LATITUDE + 1)
  const date = at(DATE)
  const time = at(TIME)
  if (!latitude || !longitude || !date || !time) return { none: 'no place' }
  const clock = Buffer.concat([date.slice(3), time.slice(3)])
  const speed = at(LATITUDE + 2)?.u16()
  const course = at(LATITUDE + 3)?.u16()
  const inputs = at(INPUTS)?.u8()
  const fix: Fix = {
    time: bytesYmd(new ByteReader(clock)),
    latitude: angle(latitude),
    longitude: angle(longitude),
    valid: at(LATITUDE + 5)?.u8() !== 0,
    speed: speed === undefined ? undefined : kmh(speed / 100),
    heading: course === undefined ? undefined : heading(course / 100),
    satellites: at(LATITUDE + 4)?.u8(),
    said: said({
      ignition: inputs === undefined ? undefined : (inputs & IGNITION) !== 0,
      alarms: type === UNIVERSAL_ALERT ? alarmsOf(ALERTS[at(ALERT_ID)?.u8() ?? 0]) : undefined,
    }),
  }
  return { fixes: [fix] }
}
