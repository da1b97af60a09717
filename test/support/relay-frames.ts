import ais from '../../protocols/ais/index.ts'
import egts from '../../protocols/egts/index.ts'
import flespi from '../../protocols/flespi/index.ts'
import globalstar from '../../protocols/globalstar/index.ts'
import inreach from '../../protocols/inreach/index.ts'
import {
  ByteWriter,
  crc8Egts,
  crc16CcittFalse,
  type HttpRequest,
  type Protocol,
  type Transport,
  xor,
} from '../../protocols/kit/index.ts'
import osmand from '../../protocols/osmand/index.ts'
import spot from '../../protocols/spot/index.ts'
import valtrack from '../../protocols/valtrack/index.ts'

/** What a relay reports of a device: a number with nine digits, which every relay protocol can name. */
export interface RelayEntry {
  readonly device: string
  readonly latitude: number
  readonly longitude: number
  /** An entry that no decoder can read. */
  readonly isDamaged?: boolean
}

interface Relay {
  readonly protocol: Protocol
  readonly transport: Transport
  /** A frame of a relay; `query`: parameters that a request has in its address beside. */
  readonly frame: (entries: readonly RelayEntry[], query?: string) => Buffer | HttpRequest
}

/** Each protocol whose frames may be of several devices. */
export const RELAYS: Readonly<Record<string, Relay>> = {
  flespi: http(flespi, (entries) =>
    JSON.stringify(
      entries.map(({ device, latitude, longitude, isDamaged }) => ({
        ident: device,
        timestamp: isDamaged ? true : seconds(),
        'position.latitude': latitude,
        'position.longitude': longitude,
      })),
    ),
  ),
  spot: http(spot, (entries) => `<messageList>${entries.map(spotMessage).join('')}</messageList>`),
  globalstar: http(globalstar, (entries) => {
    const devices = entries.map(({ device, latitude, longitude, isDamaged }) => ({
      gpsCoordinate: { latitude, longitude },
      deviceIdentify: { esn: device, ...(!isDamaged && { unixTime: seconds() }) },
    }))
    return JSON.stringify({ entry: { devices } })
  }),
  valtrack: http(valtrack, (entries) => {
    const resource = entries.map(({ device, latitude, longitude, isDamaged }) => ({
      ...(!isDamaged && { devid: device }),
      lat: String(latitude),
      lon: String(longitude),
    }))
    return JSON.stringify({ resource })
  }),
  inreach: http(inreach, (entries) => {
    const Events = entries.map(({ device, latitude, longitude, isDamaged }) => ({
      imei: device,
      point: { latitude, longitude },
      ...(!isDamaged && { timeStamp: Date.now() }),
    }))
    return JSON.stringify({ Events })
  }),
  osmand: http(osmand, (entries) => {
    const locations = entries.map(({ device, latitude, longitude, isDamaged }) => ({
      geometry: { coordinates: isDamaged ? [] : [longitude, latitude] },
      properties: { device_id: device, timestamp: new Date().toISOString() },
    }))
    return JSON.stringify({ locations })
  }),
  ais: { protocol: ais, transport: 'udp', frame: (entries) => Buffer.from(entries.map(aisSentence).join('')) },
  egts: { protocol: egts, transport: 'tcp', frame: (entries) => egtsPacket(entries.map(egtsRecord)) },
}

const seconds = () => Math.floor(Date.now() / 1000)

function http(protocol: Protocol, bodyOf: (entries: readonly RelayEntry[]) => string): Relay {
  return {
    protocol,
    transport: 'http',
    frame: (entries, query = '') => {
      const headers = { 'content-type': 'application/json' }
      return { method: 'POST', uri: `/?${query}`, headers, body: Buffer.from(bodyOf(entries)) }
    },
  }
}

function spotMessage({ device, latitude, longitude, isDamaged }: RelayEntry): string {
  const time = new Date().toISOString()
  const place = `<latitude>${isDamaged ? '?' : latitude}</latitude><longitude>${longitude}</longitude>`
  return `<message><esn>${device}</esn><timestamp>${time}</timestamp>${place}</message>`
}

/** A report of type 1. */
function aisSentence({ device, latitude, longitude, isDamaged }: RelayEntry): string {
  const fields = [
    [1, 6],
    [0, 2],
    [device, 30],
    [0, 12],
    [100, 10],
    [0, 1],
    [longitude * 600_000, 28],
  ]
  const bits = [...fields, [latitude * 600_000, 27], [0, 12], [0, 40]]
    .map(([value, size]) =>
      BigInt.asUintN(Number(size), BigInt(Math.round(Number(value))))
        .toString(2)
        .padStart(Number(size), '0'),
    )
    .join('')
  const content = (bits.match(/.{6}/g) ?? [])
    .map((six) => Number.parseInt(six, 2))
    .map((six) => six + (six > 39 ? 56 : 48))
  const covered = `AIVDM,1,1,,A,${String.fromCharCode(...content)},0`
  const sum = xor(Buffer.from(covered)) ^ (isDamaged ? 1 : 0)
  return `!${covered}*${sum.toString(16).toUpperCase().padStart(2, '0')}\r\n`
}

function egtsPacket(records: readonly Buffer[]): Buffer {
  const data = Buffer.concat(records)
  const head = new ByteWriter().bytes([1, 0, 0, 11, 0]).u16le(data.length).u16le(1).u8(1).sum(crc8Egts)
  return head.bytes(data).crc16le(crc16CcittFalse, 11).toBuffer()
}

/** A record of an object with a position. */
function egtsRecord({ device, latitude, longitude, isDamaged }: RelayEntry, index: number): Buffer {
  const place = new ByteWriter()
    .u32le(seconds() - Date.UTC(2010, 0, 1) / 1000)
    .u32le(Math.round((latitude / 90) * 0xff_ff_ff_ff))
    .u32le(Math.round((longitude / 180) * 0xff_ff_ff_ff))
    .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0])
    .toBuffer()
  const read = isDamaged ? place.subarray(0, 8) : place
  const content = new ByteWriter().u8(0x10).u16le(read.length).bytes(read).toBuffer()
  const w = new ByteWriter().u16le(content.length).u16le(index).u8(1).u32le(Number(device)).bytes([2, 2])
  return w.bytes(content).toBuffer()
}
