import { ByteReader, dop, type Fix, heading, kmh, type Message, type Settings, said, utc } from '../kit/index.ts'

/** Bytes of a record's shortest layout. */
const LEAST = 41

/** Lengths of one's own values, by name; 0: text up to a NUL. */
const LENGTHS = new Map(
  Object.entries({
    AT: 4,
    BV: 2,
    CD: 0,
    CE: 4,
    CI: 0,
    CM: 8,
    CN: 4,
    DT: 1,
    EL: 1,
    ET: 2,
    FC: 4,
    FL: 1,
    GL: 0,
    GN: 60,
    GQ: 1,
    GS: 1,
    GV: 6,
    HA: 1,
    HB: 1,
    HC: 1,
    IA: 1,
    IN0: 1,
    LC: 2,
    ME: 8,
    MF: 2,
    ML: 1,
    MP: 1,
    MV: 2,
    PC: 4,
    PD: 1,
    RL: 1,
    RP: 2,
    SA: 1,
    SM: 2,
    TR: 1,
    VN: 0,
  }),
)

/** The fixes of binary records. Where the length of one's own values is not known, the next record is looked for. */
export function binaryRecords(bytes: Buffer, settings: Settings): Message {
  const r = new ByteReader(bytes)
  const form = typeof settings.form === 'string' ? settings.form : undefined
  const fixes: Fix[] = []
  do {
    const fix = record(r)
    complete(fix, r, form)
    fixes.push(fix)
    while (r.left >= LEAST && !beginsRecord(r)) r.skip(1)
  } while (r.left >= LEAST)
  return { fixes }
}

function record(r: ByteReader): Fix {
  const isLong = isYear(r)
  const time = isLong ? longTime(r) : r.u32() * 1000
  r.skip(isLong ? 14 : 8)
  const longitude = r.i32() / 1e6
  const latitude = r.i32() / 1e6
  const course = heading(r.u16())
  const hdop = dop(r.skip(5).u16() / 10)
  const speed = kmh(r.skip(1).u16())
  const driver = r.skip(3).asciiUntil(0)
  r.skip(4).asciiUntil(0)
  return { time, latitude, longitude, valid: true, heading: course, hdop, speed, said: said({ driver }) }
}

/** Whether a time begins with a year: as unix seconds it would be one of 1974. */
function isYear(r: ByteReader): boolean {
  const year = r.at(r.position).u16()
  return year >= 2000 && year < 2100
}

function longTime(r: ByteReader): number {
  const [year, month, day] = [r.u16(), r.u8(), r.u8()]
  return utc(year, month, day, r.u8(), r.u8(), r.u8())
}

/** Reads one's own values into a fix, up to the first whose length is not known. */
function complete(fix: Fix, r: ByteReader, form: string | undefined): void {
  const names = r.peek() === PERCENT ? r.asciiUntil(0) : form
  for (const name of (names ?? '').split('%').filter((each) => each !== '' && each !== 'CI')) {
    const length = LENGTHS.get(name)
    if (length === undefined || length > r.left) return
    if (name === 'AT') fix.altitude = r.i32()
    else if (name === 'SA') fix.satellites = r.u8()
    else if (name === 'MV') fix.said = { ...fix.said, external_voltage: r.u16() / 10 }
    else if (name === 'IN0') fix.said = { ...fix.said, ignition: r.u8() !== 0 }
    else if (name === 'BV') fix.said = { ...fix.said, battery_voltage: r.u16() / 10 }
    else if (length === 0) r.asciiUntil(0)
    else r.skip(length)
  }
}

/** Whether what follows begins with times that a device may have, and a place on Earth: values of one's own do not. */
function beginsRecord(r: ByteReader): boolean {
  const isLong = isYear(r)
  const place = r.ahead(isLong ? 21 : 12)
  if (!isLong && !(isTime(r.ahead().u32()) && isTime(r.ahead(4).u32()))) return false
  return Math.abs(place.i32()) <= 180e6 && Math.abs(place.i32()) <= 90e6
}

const isTime = (seconds: number): boolean => seconds > EARLIEST && seconds < LATEST

const PERCENT = 0x25
const EARLIEST = Date.UTC(2005, 0, 1) / 1000
const LATEST = Date.UTC(2060, 0, 1) / 1000
