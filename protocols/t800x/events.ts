/*
 * Packets of Topflytech whose date stands apart from the place, and those of typed values, as the maker's codec reads them.
 *
 *   06  k E        driving behaviour              E  date{6} F axes{5} p, and of 2626 rpm{2}
 *   07  k E…       accident                       F, p  as in index.ts
 *   12  date{6} i F p …     sensors               i  bit 0: ignition
 *   17, 27  date{6} F p …   a lock
 *   23  date{6} x i F p …   a wire of sensors
 *
 *   62, 64  C M date{6} group…                    M  bits 5 and 4: encrypted, which is not read      C  CRC-8, not checked
 *      01 n, 02 n of (t, value), whose bytes follow from t; 03 nnnn of (tttt, length, value)
 *      02: 01 alarm, in the answer to 64; 07 own battery, %; 60 the same, mV; 61 bits 15 ignition, 12 charged by USB, 11 by the
 *          sun; 62 speed, km/h; A1 external power, mV
 *      03: 0001 altitude, longitude, latitude (f32), course, x{2}, satellites; all FF: no position
 */
import {
  ByteReader,
  bcdYmd,
  DecodeError,
  eachReadable,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  said,
} from '../kit/index.ts'
import { DATE, FIX, placeOf, SATELLITES } from './place.ts'

/** Where a type has its entries: bytes in front of the first, between its date and flags, and between these and the place. */
interface Event {
  readonly before: number
  readonly gap: number
  readonly axes: number
  /** Which byte behind the date holds the ignition, if one does. */
  readonly ignition?: number
  readonly isRepeated?: true
}

const BEHAVIOUR: Event = { before: 1, gap: 0, axes: 5 }
const EVENTS = new Map<number, Event>([
  [0x06, BEHAVIOUR],
  [0x07, { ...BEHAVIOUR, isRepeated: true }],
  [0x12, { before: 0, gap: 1, axes: 0, ignition: 0 }],
  [0x17, { before: 0, gap: 0, axes: 0 }],
  [0x27, { before: 0, gap: 0, axes: 0 }],
  [0x23, { before: 0, gap: 2, axes: 0, ignition: 1 }],
])
const TYPED_ALARM = 0x64
const TYPED = new Set([0x62, TYPED_ALARM])
/** Bytes of an entry of 07; of the family with an engine. */
const [ENTRY, ENTRY_OF_ENGINE] = [28, 30]
const ENGINE = 0x2626

export const isEvent = (type: number): boolean => EVENTS.has(type) || TYPED.has(type)

/** A type, and the answer to it. */
export interface Answered {
  readonly type: number
  readonly reply: Buffer
}

/** The answer with the code of an alarm. */
export function coded(reply: Buffer, code: number): Buffer {
  const longer = Buffer.concat([reply, Buffer.of(code)])
  longer.writeUInt16BE(longer.length, 3)
  return longer
}

/** What an event says, by the content behind the id. @throws DecodeError */
export function eventOf(content: Buffer, family: number, { type, reply }: Answered): Message {
  const event = EVENTS.get(type)
  if (!event) return typed(new ByteReader(content), (code) => (type === TYPED_ALARM ? coded(reply, code) : reply))
  const r = new ByteReader(content).skip(event.before)
  const size = event.isRepeated ? (family === ENGINE ? ENTRY_OF_ENGINE : ENTRY) : r.left
  const entries: ByteReader[] = []
  while (r.left >= size && r.left > 0) entries.push(r.part(size))
  const { good, unreadable } = eachReadable(entries, (entry) => entryOf(entry, event))
  const fixes = good.filter((fix) => fix !== undefined)
  return fixes.length > 0 ? { fixes, unreadable } : { none: 'no fix', unreadable }
}

function entryOf(r: ByteReader, { gap, axes, ignition }: Event): Fix | undefined {
  const date = r.part(DATE)
  const bits = r.slice(gap)
  const flags = r.u8()
  const fix = (flags & FIX) === 0 ? undefined : placeOf(date, r.skip(axes))
  const says = ignition === undefined ? undefined : { ignition: (bits[ignition] & 1) !== 0 }
  return fix && { ...fix, satellites: flags & SATELLITES, said: says }
}

/** Bits of M. */
const ENCRYPTED = 0x30
const [SETTINGS, STATE, LONG] = [0x01, 0x02, 0x03]
const [ALARM, CHARGE, BATTERY, BITS, SPEED, EXTERNAL] = [0x01, 0x07, 0x60, 0x61, 0x62, 0xa1]
const [IGNITION, CHARGED] = [0x8000, 0x1800]
const PLACE = 0x0001

function typed(r: ByteReader, answer: (code: number) => Buffer): Message {
  if (r.skip(1).u8() & ENCRYPTED) return { fixes: [] }
  const time = bcdYmd(r)
  const state = new Map<number, number>()
  let place: Buffer | undefined
  while (r.left > 1) {
    const group = r.u8()
    for (let n = group === LONG ? r.u16() : r.u8(); n > 0; n--) {
      const tag = group === LONG ? r.u16() : r.u8()
      const value = r.slice(group === LONG ? r.u8() : widthOf(group, tag))
      if (group === LONG && tag === PLACE) place = value
      if (group === STATE) state.set(tag, value.readUIntBE(0, value.length))
    }
  }
  const says = saidIn(state)
  const reply = answer(state.get(ALARM) ?? 0)
  if (!place || place.every((byte) => byte === 0xff)) return { none: place ? 'no fix' : 'cells', said: says, reply }
  const position = new ByteReader(place)
  return enveloped({ reply }, () => ({
    fixes: [{ ...typedPlace(position, time), speed: kmhOf(state.get(SPEED)), said: says }],
  }))
}

/** Bytes of a value. @throws DecodeError of a group that is not known. */
function widthOf(group: number, tag: number): number {
  if (group === STATE) return tag < 0x60 ? 1 : tag < 0xa0 ? 2 : 4
  if (group !== SETTINGS) throw new DecodeError('malformed', `a group ${group} of values`)
  return tag < 0x80 ? 1 : tag < 0xc0 ? 2 : tag < 0xf0 ? 4 : 8
}

function saidIn(state: ReadonlyMap<number, number>): Message['said'] {
  const bits = state.get(BITS)
  const volts = (tag: number) => (state.has(tag) ? (state.get(tag) ?? 0) / 1000 : undefined)
  return said({
    ignition: bits === undefined ? undefined : (bits & IGNITION) !== 0,
    charging: bits === undefined ? undefined : (bits & CHARGED) !== 0,
    battery_percent: state.get(CHARGE),
    battery_voltage: volts(BATTERY),
    external_voltage: volts(EXTERNAL),
  })
}

const kmhOf = (value: number | undefined) => (value === undefined ? undefined : kmh(value))

function typedPlace(r: ByteReader, time: number): Fix {
  const [altitude, longitude, latitude] = [r.f32le(), r.f32le(), r.f32le()]
  if (!Number.isFinite(latitude) || !Number.isFinite(longitude))
    throw new DecodeError('malformed', 'a place that is no number')
  const course = heading(r.u16())
  return { time, latitude, longitude, valid: true, altitude, heading: course, satellites: r.skip(2).u8() }
}
