/*
 * Noran NR006, NR008, NR024, NR100: "GPS&GSM/GPRS Vehicle Tracker Protocol" V1.03 (traccar.org/protocol/5053-noran) has the
 * types; their content is inferred from frames. Little-endian, UDP.
 *
 *   LLLL TTTT content                 L  length of all of it
 *
 *   0000  id 00                       handshake; answer 0D 0A *KW 00 0D 00 00 80 01 0D 0A
 *   0003  alarm: the same as 0008, where the id stands where it does there;  8009  answer to a command;  0200, 0201  image
 *   0008, 0032  F E V GGGG OOOOOOOO AAAAAAAA BBBBBBBB id, 12 bytes …
 *   0008, L = 0034  F E VVVVVVVV GGGGGGGG OOOOOOOO AAAAAAAA id, 12 bytes, "YY-MM-DD hh:mm:ss" 00
 *
 *   F  bit 0: a fix      V  speed, km/h     O, A  longitude, latitude, degrees, float32
 *   E  event, 9: power off             G  heading         B  from the highest bit on: year of the century (6), month (4), day (5),
 *                                              hour (5), minute (6), second (6)
 *   In the long layout V and G are float32. Positions are not answered.
 */
import {
  alarmsOf,
  ByteReader,
  DecodeError,
  enveloped,
  type Fix,
  heading,
  kmh,
  known,
  type Message,
  type Protocol,
  said,
  splitBits,
  utc,
  utcYmd,
} from '../kit/index.ts'

export default {
  name: 'noran',
  devices: 'Noran NR008, NR024, NR100',
  udp: { port: 5053 },
  decode,
} satisfies Protocol

const HANDSHAKE = 0
const POSITIONS = new Set([0x08, 0x32])
const LONG = 0x34
/** An event. */
const POWER_OFF = 0x09
const ALARM = 0x03
const NONE = new Map([
  [0x8009, 'command answer'],
  [0x0200, 'photo'],
  [0x0201, 'photo'],
])
/** Where the id of a short position stands, and what it looks like. */
const ID_AT = 21
const ID = /^[A-Z0-9]{6,12}\0*$/
const HANDSHAKE_ANSWER = Buffer.from('0d0a2a4b57000d000080010d0a', 'hex')

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const length = r.u16le()
  const type = r.u16le()
  if (type === HANDSHAKE) return { device: idOf(r.asciiUntil(0)), none: 'login', reply: HANDSHAKE_ANSWER }
  if (type === ALARM && ID.test(frame.toString('latin1', ID_AT, ID_AT + 12))) return short(r)
  if (!POSITIONS.has(type)) return { none: NONE.get(type) }
  return type === 0x08 && length === LONG ? long(r) : short(r)
}

function idOf(text: string): string {
  const id = text.replace(/\0.*$/, '')
  if (!/^[\w-]+$/.test(id)) throw new DecodeError('malformed', 'there is no id')
  return id
}

function short(r: ByteReader): Message {
  const valid = (r.u8() & 1) !== 0
  const beside = saidOf(r.u8())
  const speed = kmh(r.u8())
  const course = heading(r.u16le())
  const place = placeOf(r)
  const [year, month, day, hour, minute, second] = splitBits(r.u32le(), 6, 4, 5, 5, 6, 6)
  const device = idOf(r.ascii(12))
  return enveloped({ device }, () => {
    const time = utc(year, month, day, hour, minute, second)
    return { fixes: [{ time, ...place, valid, speed, heading: course, said: beside }] }
  })
}

function long(r: ByteReader): Message {
  const valid = (r.u8() & 1) !== 0
  const beside = saidOf(r.u8())
  const speed = known(kmh(r.f32le()))
  const course = heading(r.f32le())
  const place = placeOf(r)
  const device = idOf(r.ascii(12))
  return enveloped({ device }, () => {
    const time = utcYmd(r.ascii(17).replace(/\D/g, ''))
    return { fixes: [{ time, ...place, valid, speed, heading: course, said: beside }] }
  })
}

const saidOf = (event: number) => said({ alarms: alarmsOf(event === POWER_OFF && 'power_off') })

function placeOf(r: ByteReader): Pick<Fix, 'latitude' | 'longitude'> {
  const longitude = r.f32le()
  return { longitude, latitude: r.f32le() }
}
