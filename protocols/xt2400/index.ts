/*
 * Xirgo XT-2400 and other Xirgo devices with packet recipes; source: XT2500 Product Manual, 5.3 (2021), and frames. UDP,
 * big-endian. What a report has is set up in the device, in recipes, which nothing in a report repeats:
 * `settings: { recipes: ['140701030405060708'] }`, each as in its command `:wycfg pcr[…] "…"`: the report's id, how many fields,
 * their ids. A report begins with its own id (01) and the device (03):
 *
 *   KK IIIIIIII …
 *
 *   03  device, 4 bytes          07, 08  latitude, longitude, 4, 1e-6°     0c  inputs, 1: bits of ignition 01, motion 20
 *   04  reason, 1                09  altitude, 2, 0.1 metres               12  HDOP, 1, 0.1
 *   05  serial number N, 2       0a  heading, 2, 0.1 degrees               13  satellites, 1
 *   06  unix seconds, 4          0b  speed, 1, km/h                        16, 17  battery, external voltage, 1, 0.1 V
 *
 * Answer to a report with a serial number, which may come until it is acknowledged: 8888 NNNN. Without the setting, two recipes
 * that have been seen; the two bytes behind the altitude of one of them are not known.
 */
import {
  ByteReader,
  DecodeError,
  dop,
  enveloped,
  heading,
  kmh,
  type Message,
  type Protocol,
  said,
  type Session,
  type Settings,
} from '../kit/index.ts'

export default {
  name: 'xt2400',
  devices: 'Xirgo XT-2400, XT2500, XT6350, XT6360, XT6372R',
  acknowledges: 'some',
  udp: { port: 5138 },
  decode,
} satisfies Protocol

type Recipes = ReadonlyMap<number, readonly number[]>

const SERIAL = 0x05
const TIME = 0x06
const LATITUDE = 0x07
const LONGITUDE = 0x08
const ALTITUDE = 0x09
const HEADING = 0x0a
const SPEED = 0x0b
const INPUTS = 0x0c
const HDOP = 0x12
const SATELLITES = 0x13
const BATTERY = 0x16
const EXTERNAL = 0x17

/** The bytes of each field by its id: 0 where they are not known. No field is 00: here, two bytes of whatever. */
const SIZES = [
  2, 1, 0, 4, 1, 2, 4, 4, 4, 2, 2, 1, 1, 1, 4, 4, 4, 4, 1, 1, 1, 2, 1, 1, 4, 4, 4, 4, 1, 2, 2, 1, 4, 4, 4, 1, 2,
]
/** What every recipe begins with: the id of the report and the device. */
const BEGINNING = 2
const PLACE = [TIME, LATITUDE, LONGITUDE]

const [IGNITION, MOTION] = [1, 0x20]
const ANSWER = 0x8888

const SEEN: Recipes = recipesOf(['000c01030406070809000a131217', '010b01030405060708090a1213'])

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  const kind = r.u8()
  const device = String(r.u32())
  const recipe = recipesIn(session.settingsOf(device)).get(kind)
  if (!recipe) return { device }
  const values = new Map<number, number>()
  for (const id of recipe) {
    const size = SIZES[id] ?? 0
    if (size === 0 || r.left < size) break
    values.set(id, fieldOf(r, id, size))
  }
  const serial = values.get(SERIAL)
  const reply = serial === undefined ? undefined : answer(serial)
  return enveloped({ device, reply }, () => contentOf(values, recipe))
}

function fieldOf(r: ByteReader, id: number, size: number): number {
  if (size === 1) return r.u8()
  if (size === 2) return id === ALTITUDE ? r.i16() : r.u16()
  return id === LATITUDE || id === LONGITUDE ? r.i32() : r.u32()
}

function contentOf(
  values: ReadonlyMap<number, number>,
  recipe: readonly number[],
): Pick<Message, 'fixes' | 'none' | 'said'> {
  const tenths = (id: number) => {
    const value = values.get(id)
    return value === undefined ? undefined : value / 10
  }
  const inputs = values.get(INPUTS)
  const told = said({
    ignition: inputs === undefined ? undefined : (inputs & IGNITION) !== 0,
    moving: inputs === undefined ? undefined : (inputs & MOTION) !== 0,
    external_voltage: tenths(EXTERNAL),
    battery_voltage: tenths(BATTERY),
  })
  const [time, latitude, longitude] = PLACE.map((id) => values.get(id))
  if (time === undefined || latitude === undefined || longitude === undefined) {
    if (PLACE.every((id) => recipe.includes(id))) throw new DecodeError('truncated')
    return { none: 'no place', said: told }
  }
  const course = tenths(HEADING)
  const speed = values.get(SPEED)
  return {
    fixes: [
      {
        time: time * 1000,
        latitude: latitude / 1e6,
        longitude: longitude / 1e6,
        valid: true,
        altitude: tenths(ALTITUDE),
        speed: speed === undefined ? undefined : kmh(speed),
        heading: course === undefined ? undefined : heading(course),
        hdop: dop(tenths(HDOP)),
        satellites: values.get(SATELLITES),
        said: told,
      },
    ],
  }
}

function answer(serial: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt16BE(ANSWER)
  bytes.writeUInt16BE(serial, 2)
  return bytes
}

function recipesIn(settings: Settings): Recipes {
  const { recipes } = settings
  if (!Array.isArray(recipes)) return SEEN
  let read = known.get(recipes)
  if (!read) known.set(recipes, (read = recipesOf(recipes)))
  return read
}

/** By the setting that they are in, which is read again and again. */
const known = new WeakMap<readonly unknown[], Recipes>()

function recipesOf(texts: readonly unknown[]): Recipes {
  const recipes = new Map<number, readonly number[]>()
  for (const text of texts) {
    const [kind, count = 0, ...ids] = Buffer.from(String(text).replace(/\s/g, ''), 'hex')
    if (kind !== undefined) recipes.set(kind, ids.slice(BEGINNING, count))
  }
  return recipes
}
