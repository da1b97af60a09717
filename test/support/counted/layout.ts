import { ByteWriter, type HttpRequest, type Settings, type Transport } from '../../../protocols/kit/index.ts'

/** What a record says: a place and a time of its own. */
export interface Place {
  readonly index: number
  /** ms UTC */
  readonly time: number
  /** Unix seconds. */
  readonly seconds: number
  readonly latitude: number
  readonly longitude: number
}

type Bytes = Buffer | string | ByteWriter

/** A layout that holds a number of records, and how they are written. */
export interface CountedLayout {
  readonly protocol: string
  /** Which of its layouts it is, where there are several. */
  readonly layout?: string
  /** Left out: tcp, where the protocol has it, else udp, http, mqtt. */
  readonly transport?: Transport
  readonly settings?: Settings
  /** Frames that precede: a login. */
  readonly before?: readonly Bytes[]
  /** As many records as its count or its length allows, or as devices send. */
  readonly most: number
  /** Why no frame has 0 records. */
  readonly never0?: string
  readonly record: (place: Place) => Bytes
  readonly frame: (records: readonly Buffer[]) => Bytes | HttpRequest
  /** A record that cannot be read; left out where all its values can be, or its length follows from them. */
  readonly broken?: (place: Place) => Bytes
  /** The answer to so many good records. Left out: nothing is answered. */
  readonly answer?: (count: number, frame: Buffer) => Bytes | readonly Bytes[]
  /** Its records have no time: it is that of their arrival. */
  readonly isUntimed?: true
}

const START = Date.UTC(2026, 10, 20, 6, 0, 0)

/** Places 62 s apart, north and east. */
export function placesOf(count: number): readonly Place[] {
  return Array.from({ length: count }, (_, index) => {
    const time = START + index * 62_000
    return { index, time, seconds: time / 1000, latitude: 52.5 + index / 1000, longitude: 13.4 + index / 500 }
  })
}

export const w = (): ByteWriter => new ByteWriter()

export function bufferOf(bytes: Bytes): Buffer {
  return bytes instanceof ByteWriter ? bytes.toBuffer() : Buffer.from(bytes as string)
}

/** Units of 1/`scale` degree. */
export const scaled = (angle: number, scale: number): number => Math.round(angle * scale)

export function float(value: number, endian: 'big' | 'little' = 'little'): Buffer {
  const bytes = Buffer.alloc(4)
  if (endian === 'big') bytes.writeFloatBE(value)
  else bytes.writeFloatLE(value)
  return bytes
}

/** Degrees and minutes as NMEA 0183 has them, with so many digits of degrees. */
export function nmea(angle: number, digits: 2 | 3): string {
  const parts = Math.round(angle * 600_000)
  const minutes = ((parts % 600_000) / 10_000).toFixed(4).padStart(7, '0')
  return `${String(Math.floor(parts / 600_000)).padStart(digits, '0')}${minutes}`
}

/** Digits of a time: Y year of the century, M month, D day, h, m, s; Z the whole year. */
export function clock(time: number, form: string): string {
  const [year, month, day, hour, minute, second] = new Date(time).toISOString().split(/\D/, 6)
  const parts: Readonly<Record<string, string>> = {
    Z: year,
    Y: year.slice(2),
    M: month,
    D: day,
    h: hour,
    m: minute,
    s: second,
  }
  return form.replaceAll(/[ZYMDhms]/g, (letter) => parts[letter])
}

/** Bytes of a number in bits, from the highest on: `[value, width]`. */
export function bits(...fields: readonly (readonly [number, number])[]): Buffer {
  const digits = fields.map(([value, width]) => value.toString(2).padStart(width, '0')).join('')
  return Buffer.from((digits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}
