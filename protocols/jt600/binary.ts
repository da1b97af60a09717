import {
  type Alarm,
  alarmsIn,
  ByteReader,
  DecodeError,
  eachReadable,
  enveloped,
  type Fix,
  type Message,
  packedFix,
  type Said,
  type Session,
  said,
} from '../kit/index.ts'

/** Bytes of a position in a packet of several. */
const RECORD = 27
/** Where the status of a padlock stands, and its bit that wants an answer. */
const [STATUS, WANTS_ANSWER] = [36, 0x20]
/** The first version of padlocks whose answer names the packet. */
const NAMED_ANSWERS = 0x19

/** Whether a packet is of the second kind: its byte 7 holds a kind of device, where the first kind has a length. */
export function isPadlock(bytes: Buffer): boolean | 'maybe' {
  return bytes[0] === 0x24 && (bytes.length < 8 ? 'maybe' : bytes[7] >= 0x10)
}

/** The message of a packet. @throws DecodeError */
export function binary(packet: Buffer, _: Session, isOfPadlock: boolean): Message {
  const r = new ByteReader(packet).skip(1)
  const device = r.bcd(5)
  const version = r.u8()
  if (isOfPadlock) {
    const status = packet.length < STATUS + 2 ? 0 : packet.readUInt16BE(STATUS)
    const answer = version >= NAMED_ANSWERS ? `(P69,0,${packet[packet.length - 1]})` : '(P35)'
    const reply = status & WANTS_ANSWER ? Buffer.from(answer) : undefined
    return enveloped({ device, reply }, () => padlock(r.skip(3)))
  }
  return enveloped({ device }, () => records(r, version >> 4 === 1))
}

function records(r: ByteReader, isFirstVersion: boolean): Message {
  const length = r.u16()
  if (length % RECORD !== 0 || length === 0 || r.left < length) throw new DecodeError('malformed', `${length} bytes`)
  const entries: ByteReader[] = []
  for (let left = length; left > 0; left -= RECORD) entries.push(r.part(RECORD))
  const { good, unreadable } = eachReadable(entries, (entry) => record(entry, isFirstVersion))
  return { fixes: good, unreadable }
}

function record(r: ByteReader, isFirstVersion: boolean): Fix {
  const fix = packedFix(r)
  if (!isFirstVersion) return fix
  fix.satellites = r.u8()
  fix.said = batteryOf(r.u8())
  fix.altitude = r.skip(1).i16()
  return fix
}

function padlock(r: ByteReader): Message {
  const fix = packedFix(r)
  fix.satellites = r.skip(4).u8()
  const status = r.skip(4).u16()
  // The last byte is the serial number.
  const charge = r.left > 1 ? batteryOf(r.u8()) : {}
  fix.said = said({ ...charge, alarms: alarmsIn(status, ALARMS) })
  return { fixes: [fix] }
}

/** Bits of the status of padlocks: the rope is cut, it shakes, the battery is low, the back cap is open. */
const ALARMS: readonly Alarm[] = Object.assign([], {
  3: 'tampering',
  4: 'vibration',
  11: 'low_battery',
  12: 'tampering',
} satisfies Record<number, Alarm>)

/** The charge of the battery; above 100 it is on the charger. */
const batteryOf = (percent: number): Said => (percent > 100 ? { charging: true } : { battery_percent: percent })
