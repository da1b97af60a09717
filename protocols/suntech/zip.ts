import { ByteReader, bytesYmd, type Fix, heading, kmh, type Message, signMagnitude } from '../kit/index.ts'

const FIX = 0x80
const SOUTH = 0x40
const WEST = 0x20
const SATELLITES = 0x1f
/** Status, emergency, event and alert reports. */
const FIRST_POSITION = 0x10
const LAST_POSITION = 0x13

/** The message of a zip report of ST300. @throws DecodeError */
export function zip(frame: Buffer): Message {
  const r = new ByteReader(frame).skip(3)
  const type = r.u8()
  const device = r.bcd(5)
  if (type < FIRST_POSITION || type > LAST_POSITION) return { device }
  const time = bytesYmd(r.skip(3))
  r.skip(3)
  const latitude = withDecimals(r.u8(), r.bcd(3))
  const longitude = withDecimals(r.u8(), r.bcd(3))
  const speed = kmh(withDecimals(r.u16(), r.bcd(1)))
  const course = heading(withDecimals(r.u16(), r.bcd(1)))
  const flags = r.u8()
  const fix: Fix = {
    time,
    latitude: flags & SOUTH ? -latitude : latitude,
    longitude: flags & WEST ? -longitude : longitude,
    valid: (flags & FIX) !== 0,
    speed,
    heading: course,
    satellites: flags & SATELLITES,
  }
  return { device, fixes: [fix] }
}

function withDecimals(integer: number, digits: string): number {
  return integer + Number(digits) / 10 ** digits.length
}

const UNIVERSAL_STATUS = 0x81
const UNIVERSAL_ALERT = 0x82
/** Bytes of the fields of a Universal report, by their bits from the model (bit 1) on. */
const WIDTHS = [0, 1, 3, 1, 3, 3, 4, 2, 2, 2, 1, 4, 4, 2, 2, 1, 1]
const DATE = 4
const TIME = 5
const LATITUDE = 11

/** The message of a zip report of Universal. @throws DecodeError */
export function universalZip(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const type = r.u8()
  const device = r.skip(2).bcd(5)
  if (type !== UNIVERSAL_STATUS && type !== UNIVERSAL_ALERT) return { device }
  const mask = r.u24()
  const places: (number | undefined)[] = []
  for (let bit = 1; bit < WIDTHS.length; bit++) places[bit] = (mask >>> bit) & 1 ? r.take(WIDTHS[bit]) : undefined
  const at = (bit: number) => {
    const place = places[bit]
    return place === undefined ? undefined : new ByteReader(frame).at(place)
  }
  const latitude = at(LATITUDE)?.u32()
  const longitude = at(LATITUDE + 1)?.u32()
  const date = at(DATE)
  const time = at(TIME)
  if (latitude === undefined || longitude === undefined || !date || !time) return { device, none: 'no place' }
  const clock = Buffer.concat([date.slice(3), time.slice(3)])
  const speed = at(LATITUDE + 2)?.u16()
  const course = at(LATITUDE + 3)?.u16()
  const fix: Fix = {
    time: bytesYmd(new ByteReader(clock)),
    latitude: signMagnitude(latitude, 32) / 1e6,
    longitude: signMagnitude(longitude, 32) / 1e6,
    valid: at(LATITUDE + 5)?.u8() !== 0,
    speed: speed === undefined ? undefined : kmh(speed / 100),
    heading: course === undefined ? undefined : heading(course / 100),
    satellites: at(LATITUDE + 4)?.u8(),
  }
  return { device, fixes: [fix] }
}
