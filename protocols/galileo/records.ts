import {
  BitReader,
  ByteReader,
  dop,
  type Fix,
  heading,
  kmh,
  type Message,
  type Said,
  withoutYearNear,
} from '../kit/index.ts'

const IMEI = 0x03
const TIME = 0x20
const PLACE = 0x30
const SPEED = 0x33
const ALTITUDE = 0x34
const HDOP = 0x35
const STATE = 0x40
const EXTERNAL = 0x41
const BATTERY = 0x42
const KEY = 0x90
/** Bits of the state. */
const [DRIVES, STARTED] = [0x0001, 0x0200]
const ANSWER = 0xe1
const LONG_TEXT = 0xea
const EXTENDED = 0xfe
const SATELLITES = 0
const CELLS = 2

/** Bytes of the values, by tag; 0: an unknown tag. */
const WIDTHS = new Uint8Array(256)
for (const [first, last, width] of [
  [0x01, 0x02, 1],
  [0x03, 0x03, 15],
  [0x04, 0x04, 2],
  [0x05, 0x05, 1],
  [0x10, 0x10, 2],
  [0x20, 0x20, 4],
  [0x21, 0x21, 2],
  [0x30, 0x30, 9],
  [0x33, 0x33, 4],
  [0x34, 0x34, 2],
  [0x35, 0x35, 1],
  [0x40, 0x42, 2],
  [0x43, 0x43, 1],
  [0x44, 0x44, 4],
  [0x45, 0x46, 2],
  [0x47, 0x47, 4],
  [0x48, 0x48, 2],
  [0x49, 0x49, 1],
  [0x50, 0x59, 2],
  [0x5a, 0x5a, 4],
  [0x5c, 0x5c, 68],
  [0x5d, 0x5d, 3],
  [0x60, 0x62, 2],
  [0x63, 0x6f, 3],
  [0x70, 0x7d, 2],
  [0x80, 0x87, 3],
  [0x88, 0x8c, 1],
  [0x90, 0x90, 4],
  [0xa0, 0xaf, 1],
  [0xb0, 0xb9, 2],
  [0xc0, 0xc3, 4],
  [0xc4, 0xd2, 1],
  [0xd3, 0xd4, 4],
  [0xd5, 0xd5, 1],
  [0xd6, 0xda, 2],
  [0xdb, 0xdf, 4],
  [0xe0, 0xe0, 4],
  [0xe2, 0xe9, 4],
  [0xf0, 0xf9, 4],
])
  WIDTHS.fill(width, first, last + 1)

/** What the tags of a packet say; `isWhole`: no unknown tag was among them. */
interface Tags {
  readonly device?: string
  readonly fixes: readonly Fix[]
  readonly isWhole: boolean
  /** Whether the answer to a command is among them. */
  readonly isAnswer: boolean
}

/** @returns the message of what the tags of a packet say */
export function messageOf({ device, fixes, isWhole, isAnswer }: Tags): Message {
  if (!isWhole) return { device, fixes, unreadable: fixes.length > 0 ? [fixes.length] : undefined }
  return fixes.length > 0 ? { device, fixes } : { device, none: isAnswer ? 'command answer' : 'no place' }
}

/** What is known of a record; it makes a fix with a place and a time. */
type Draft = Partial<Fix>
/** With all its members from the beginning: to add them later is slow. */
const newDraft = (): Draft => ({
  time: undefined,
  latitude: undefined,
  longitude: undefined,
  valid: false,
  speed: undefined,
  heading: undefined,
  altitude: undefined,
  accuracy: undefined,
  hdop: undefined,
  satellites: undefined,
  said: undefined,
})
const newState = () => ({ device: undefined as string | undefined, isAnswer: false, isOfCells: false })

/** The records of a packet: tag and value, again and again. @throws DecodeError */
export function records(content: Buffer): Tags {
  const r = new ByteReader(content)
  const fixes: Fix[] = []
  const state = newState()
  const seen = new Uint16Array(256)
  let record = 1
  let reading = { draft: newDraft(), state }
  let isWhole = true
  while (isWhole && r.left > 0) {
    const tag = r.u8()
    if (seen[tag] === record) {
      addFix(fixes, reading.draft)
      reading = { draft: newDraft(), state }
      record++
    }
    seen[tag] = record
    isWhole = readTag(tag, r, reading)
  }
  addFix(fixes, reading.draft)
  return { ...state, fixes, isWhole }
}

/**
 * The records of a compressed packet: time and place, a list of tags, their values. @throws DecodeError
 */
export function compressed(content: Buffer, now: number): Tags {
  const r = new ByteReader(content)
  const fixes: Fix[] = []
  const state = newState()
  const year = new Date(now).getUTCFullYear()
  while (r.left > 0) {
    const bits = new BitReader(r.slice(10))
    const seconds = bits.skip(1).u(25)
    const valid = bits.u(1) === 0
    const longitude = (360 * bits.u(22)) / 2 ** 22 - 180
    const latitude = (180 * bits.u(21)) / 2 ** 21 - 90
    const draft: Draft = { time: inYearNear(seconds, year, now), latitude, longitude, valid }
    const tags = r.slice(r.u8() & 0x7f)
    const isWhole = tags.every((tag) => readTag(tag, r, { draft, state }))
    addFix(fixes, draft)
    if (!isWhole) return { ...state, fixes, isWhole }
  }
  return { ...state, fixes, isWhole: true }
}

/** The last time so many seconds after the beginning of a year, up to a day after now. */
function inYearNear(seconds: number, year: number, now: number): number {
  const at = new Date(Date.UTC(year, 0, 1) + seconds * 1000)
  const day = [at.getUTCMonth() + 1, at.getUTCDate()] as const
  return withoutYearNear([...day, at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()], now)
}

/** Where the value of a tag is put: in the record, or in what holds for the whole packet. */
interface Reading {
  readonly draft: Draft
  readonly state: ReturnType<typeof newState>
}

/** Reads the value of a tag; false of a tag whose length is not known. */
function readTag(tag: number, r: ByteReader, { draft, state }: Reading): boolean {
  switch (tag) {
    case IMEI:
      state.device = r.ascii(15)
      return true
    case TIME:
      draft.time = r.u32le() * 1000
      return true
    case PLACE:
      state.isOfCells = place(r, draft) === CELLS
      return true
    case SPEED:
      draft.speed = kmh(r.u16le() / 10)
      draft.heading = heading(r.u16le() / 10)
      return true
    case ALTITUDE:
      draft.altitude = r.i16le()
      return true
    case HDOP:
      if (state.isOfCells) draft.accuracy = r.u8() * 10
      else draft.hdop = dop(r.u8() / 10)
      return true
    case STATE: {
      const bits = r.u16le()
      saidIn(draft).ignition = (bits & STARTED) !== 0
      saidIn(draft).moving = (bits & DRIVES) !== 0
      return true
    }
    case EXTERNAL:
      sayVolts(draft, 'external_voltage', r.u16le())
      return true
    case BATTERY:
      sayVolts(draft, 'battery_voltage', r.u16le())
      return true
    case KEY: {
      const key = r.u32le()
      if (key !== 0) saidIn(draft).driver = String(key)
      return true
    }
    case ANSWER:
    case LONG_TEXT:
      state.isAnswer ||= tag === ANSWER
      r.skip(r.u8())
      return true
    case EXTENDED:
      r.skip(r.u16le())
      return true
    default:
      r.take(WIDTHS[tag])
      return WIDTHS[tag] > 0
  }
}

/** @returns the source of the place */
function place(r: ByteReader, draft: Draft): number {
  const kind = r.u8()
  const source = kind >> 4
  draft.valid = source === SATELLITES || source === CELLS
  draft.satellites = kind & 15
  draft.latitude = r.i32le() / 1e6
  draft.longitude = r.i32le() / 1e6
  return source
}

/** What the record says beside its position: its values are known and never negative. */
const saidIn = (draft: Draft): Said => (draft.said ??= {})

function sayVolts(draft: Draft, name: 'external_voltage' | 'battery_voltage', millivolts: number): void {
  if (millivolts !== UNKNOWN) saidIn(draft)[name] = millivolts / 1000
}

const UNKNOWN = 0xffff

function addFix(fixes: Fix[], draft: Draft): void {
  if (draft.latitude !== undefined && draft.time !== undefined) fixes.push(draft as Fix)
}
