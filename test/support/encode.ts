import { crc16Arc, crc16X25 } from '../../protocols/kit/index.ts'

/** What a Teltonika record says; `io`: the elements by the size of their value, as [id, value]. */
export interface AvlRecord {
  readonly time: number
  readonly latitude: number
  readonly longitude: number
  readonly altitude?: number
  readonly angle?: number
  readonly satellites?: number
  readonly speed?: number
  readonly io?: Readonly<Partial<Record<1 | 2 | 4 | 8 | 16, readonly (readonly [number, number])[]>>>
  /** Of codec 8 Extended: elements whose value comes with its length. */
  readonly variable?: readonly (readonly [number, Buffer])[]
}

export type AvlCodec = 0x08 | 0x8e | 0x10

/** A Teltonika TCP packet. */
export function avlPacket(codec: AvlCodec, records: readonly AvlRecord[]): Buffer {
  return avlEnvelope(avlContent(codec, records))
}

/** A Teltonika UDP datagram, packet CAFE, AVL packet 05. */
export function avlDatagram(imei: string, codec: AvlCodec, records: readonly AvlRecord[]): Buffer {
  const content = Buffer.concat([bytes('cafe0105'), u(2, imei.length), Buffer.from(imei), avlContent(codec, records)])
  return Buffer.concat([u(2, content.length), content])
}

/** A Teltonika login. */
export function avlLogin(imei: string): Buffer {
  return Buffer.concat([u(2, imei.length), Buffer.from(imei)])
}

/** Preamble, length and checksum around a content from codec to second number. */
export function avlEnvelope(content: Buffer): Buffer {
  return Buffer.concat([u(4, 0), u(4, content.length), content, u(4, crc16Arc(content))])
}

export function avlContent(codec: AvlCodec, records: readonly AvlRecord[]): Buffer {
  const count = Buffer.of(records.length)
  return Buffer.concat([Buffer.of(codec), count, ...records.map((record) => avlRecord(codec, record)), count])
}

function avlRecord(codec: AvlCodec, record: AvlRecord): Buffer {
  const { time, latitude, longitude, altitude = 0, angle = 0, satellites = 0, speed = 0 } = record
  const head = Buffer.alloc(24)
  head.writeBigUInt64BE(BigInt(time))
  head.writeInt32BE(Math.round(longitude * 1e7), 9)
  head.writeInt32BE(Math.round(latitude * 1e7), 13)
  head.writeInt16BE(altitude, 17)
  head.writeUInt16BE(angle, 19)
  head[21] = satellites
  head.writeUInt16BE(speed, 22)
  return Buffer.concat([head, avlIo(codec, record)])
}

function avlIo(codec: AvlCodec, { io = {}, variable = [] }: AvlRecord): Buffer {
  const [event, id, count] = codec === 0x08 ? [1, 1, 1] : codec === 0x8e ? [2, 2, 2] : [2, 2, 1]
  const sizes = io[16] ? ([1, 2, 4, 8, 16] as const) : ([1, 2, 4, 8] as const)
  const total = sizes.reduce((sum, size) => sum + (io[size]?.length ?? 0), 0) + variable.length
  const groups = sizes.map((size) => {
    const elements = (io[size] ?? []).map(([key, value]) => Buffer.concat([u(id, key), u(size, value)]))
    return Buffer.concat([u(count, elements.length), ...elements])
  })
  const long = variable.map(([key, value]) => Buffer.concat([u(id, key), u(2, value.length), value]))
  const tail = codec === 0x8e ? [u(2, long.length), ...long] : []
  return Buffer.concat([
    u(event, 0),
    codec === 0x10 ? Buffer.of(5) : Buffer.alloc(0),
    u(count, total),
    ...groups,
    ...tail,
  ])
}

/** What the position block of a GT06 frame says; `date` is YYMMDDhhmmss. */
export interface Gt06Position {
  readonly date: string
  readonly latitude: number
  readonly longitude: number
  readonly satellites?: number
  /** km/h */
  readonly speed?: number
  readonly heading?: number
  readonly fixed?: boolean
}

/** A short (7878) or long (7979) GT06 frame. */
export function gt06Frame(type: number, content: Buffer, options: { serial?: number; long?: boolean } = {}): Buffer {
  const { serial = 1, long = false } = options
  const length = content.length + 5
  const covered = Buffer.concat([u(long ? 2 : 1, length), Buffer.of(type), content, u(2, serial)])
  return Buffer.concat([bytes(long ? '7979' : '7878'), covered, u(2, crc16X25(covered)), bytes('0d0a')])
}

/** The 18 bytes from the date to the heading. */
export function gt06Gps(position: Gt06Position): Buffer {
  const { date, satellites = 0, speed = 0 } = position
  return Buffer.concat([
    gt06Date(date),
    Buffer.of(0xc0 | satellites),
    gt06Place(position),
    u(1, speed),
    gt06Flags(position),
  ])
}

export function gt06Date(date: string): Buffer {
  return Buffer.from((date.match(/../g) ?? []).map(Number))
}

export function gt06Place({ latitude, longitude }: Gt06Position): Buffer {
  return Buffer.concat([latitude, longitude].map((angle) => u(4, Math.round(Math.abs(angle) * 1.8e6))))
}

export function gt06Flags({ latitude, longitude, heading = 0, fixed = true }: Gt06Position): Buffer {
  const hemispheres = (latitude >= 0 ? 0x0400 : 0) | (longitude < 0 ? 0x0800 : 0)
  return u(2, heading | hemispheres | (fixed ? 0x1000 : 0))
}

/** Bytes of hexadecimal text, spaces allowed. */
export function bytes(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex')
}

/** A big-endian integer of any number of bytes. */
export function u(size: number, value: number): Buffer {
  return bytes(value.toString(16).padStart(size * 2, '0'))
}

/** A frame between flags 7E, escaped as JT/T 808 has it. */
export function escapedFrame(content: Buffer): Buffer {
  const escapes = new Map([
    [0x7d, [0x7d, 1]],
    [0x7e, [0x7d, 2]],
  ])
  return Buffer.from([0x7e, ...[...content].flatMap((byte) => escapes.get(byte) ?? [byte]), 0x7e])
}
