import { ByteReader, DecodeError, dop, eachReadable, type Fix, heading, kmh, secondsSince } from '../kit/index.ts'

const since2000 = secondsSince(2000)

/** Positions of a frame's records, and which could not be read. */
export type Records = ReturnType<typeof eachReadable<Buffer, Fix | undefined>>

/** The positions of a CCC frame, from behind the comma on. @throws DecodeError */
export function compactFixes(body: Buffer): Records {
  const r = new ByteReader(body).skip(2)
  const length = r.u16le()
  r.skip(4)
  if (length < COMPACT_LENGTH) throw new DecodeError('malformed', `records of ${length} bytes`)
  return eachReadable(
    Array.from({ length: Math.floor(r.left / length) }, () => r.slice(length)),
    compactFix,
  )
}

/** What of a record is read. */
const COMPACT_LENGTH = 24

function compactFix(record: Buffer): Fix {
  const r = new ByteReader(record).skip(1)
  return {
    latitude: r.i32le() / 1e6,
    longitude: r.i32le() / 1e6,
    time: since2000(r.u32le()),
    valid: r.u8() === 1,
    satellites: r.u8(),
    speed: kmh(r.skip(1).u16le()),
    heading: heading(r.u16le()),
    hdop: dop(r.u16le() / 10),
    altitude: r.i16le(),
  }
}

/** The positions of a CCE frame, from behind the comma on. @throws DecodeError */
export function taggedFixes(body: Buffer): Records {
  const r = new ByteReader(body).skip(4)
  const count = r.u16le()
  const records: Buffer[] = []
  while (records.length < count && r.left > 0) records.push(r.slice(r.u16le()))
  return eachReadable(records, taggedFix)
}

/** The fix of a record; undefined if the record has no coordinates, only cells or WiFi networks. */
function taggedFix(record: Buffer): Fix | undefined {
  const values = parametersOf(record)
  const [latitude, longitude, time] = [2, 3, 4].map((id) => values.get(id))
  if (latitude === undefined || longitude === undefined) return undefined
  if (time === undefined) throw new DecodeError('malformed', 'a record without time')
  const speed = values.get(8)
  const altitude = values.get(0x0b)
  return {
    time: since2000(time >>> 0),
    latitude: latitude / 1e6,
    longitude: longitude / 1e6,
    valid: values.get(5) === 1,
    satellites: values.get(6),
    speed: speed === undefined ? undefined : kmh(speed),
    heading: heading(values.get(9)),
    hdop: dop((values.get(0x0a) ?? 0) / 10),
    altitude: altitude === undefined ? undefined : (altitude << 16) >> 16,
  }
}

/** The parameters of 1, 2 and 4 bytes, by id. */
function parametersOf(record: Buffer): Map<number, number> {
  const r = new ByteReader(record).skip(2)
  const values = new Map<number, number>()
  for (const read of [() => r.u8(), () => r.u16le(), () => r.i32le()])
    for (let left = r.u8(); left > 0; left--) {
      const id = r.u8()
      values.set(id === LONG_ID ? (LONG_ID << 8) + r.u8() : id, read())
    }
  return values
}

const LONG_ID = 0xfe
