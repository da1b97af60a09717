import {
  ByteReader,
  DecodeError,
  type Fix,
  heading,
  kmh,
  type Message,
  type Said,
  type Settings,
  said,
} from '../kit/index.ts'

type Payload = Pick<Message, 'fixes' | 'none' | 'said'>

/** What a payload of at most 12 bytes says: the layouts are drawn in index.ts. @throws DecodeError `malformed` of no hex. */
export function payloadMessage(payload: string, time: number, { model }: Settings): Payload {
  if (!/^(?:[0-9a-fA-F]{2}){1,64}$/.test(payload)) throw new DecodeError('malformed', 'data is not hexadecimal')
  const bytes = Buffer.from(payload, 'hex')
  const r = new ByteReader(bytes)
  const fixAt = (latitude: number, longitude: number, beside: Said): Payload => ({
    fixes: [{ time, latitude, longitude, valid: true, said: said(beside) }],
  })
  if (bytes.length === 1 && bytes[0] === SOS) return { said: said({ alarms: ['sos'] }) }
  if (bytes.length < 12) return {}
  if (model === 'Amber') return fixAt(r.skip(4).i32() / 60_000, r.i32() / 60_000, { battery_voltage: bytes[2] / 50 })
  if (bytes[0] === 0x1f) return fixAt(signed(r.skip(1).u32()) / 1e6, signed(r.u32()) / 1e6, { battery_percent: r.u8() })
  if (bytes[0] === 0x20 && bytes[1] === 0x02) {
    const latitude = r.skip(2).f32()
    const longitude = r.f32()
    const beside = { battery_percent: r.skip(1).u8() }
    if (Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180) return fixAt(latitude, longitude, beside)
  }
  return oyster(new ByteReader(bytes), time)
}

/** The first bit is the sign. */
function signed(value: number): number {
  return value >= SIGN ? SIGN - value : value
}

const SIGN = 0x8000_0000
const SOS = 0x62
const IN_TRIP = 0x10
const FIX_FAILED = 0x20

function oyster(r: ByteReader, time: number): Payload {
  const head = r.u8()
  const type = head & 0x0f
  if (type === 1 || type === 2) return { none: 'status' }
  if (type !== 0 || head > 0x30) return {}
  const latitude = r.i32le() / 1e7
  const longitude = r.i32le() / 1e7
  const fix: Fix = {
    time,
    latitude,
    longitude,
    valid: (head & FIX_FAILED) === 0,
    heading: heading(r.u8() * 2),
    speed: kmh(r.u8()),
    said: said({ moving: (head & IN_TRIP) !== 0, battery_voltage: r.u8() / 40 }),
  }
  return { fixes: [fix] }
}
