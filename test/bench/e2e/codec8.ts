import { crc16Arc } from '../../../protocols/kit/index.ts'

/** The login of the van with this number: its length and its IMEI. */
export function login(index: number): Buffer {
  return Buffer.concat([Buffer.of(0, 15), Buffer.from(imeiOf(index))])
}

export function imeiOf(index: number): string {
  return String(350_000_000_000_000 + index)
}

/** A Codec 8 packet: 000000 00, length, codec, count, records of 57 bytes with ten I/O elements, count, CRC. */
export function packetOf(records: number, index: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + records * RECORD_BYTES + 5)
  bytes.writeUInt32BE(bytes.length - 12, 4)
  bytes[8] = 8
  bytes[9] = records
  for (let i = 0; i < records; i++) record(bytes, HEADER_BYTES + i * RECORD_BYTES, index)
  bytes[bytes.length - 5] = records
  return bytes
}

/** New times, one second after another from `timestamp` on, so that no two fixes are the same, and the checksum with them. */
export function stamp(packet: Buffer, timestamp: number): void {
  for (let i = 0; i < packet[9]; i++) {
    const at = HEADER_BYTES + i * RECORD_BYTES
    const ms = (timestamp + i) * 1000
    packet.writeUInt32BE(Math.floor(ms / 0x1_0000_0000), at)
    packet.writeUInt32BE(ms % 0x1_0000_0000, at + 4)
  }
  packet.writeUInt32BE(crc16Arc(packet.subarray(8, -4)), packet.length - 4)
}

function record(bytes: Buffer, at: number, index: number): void {
  bytes.writeInt32BE(134_000_000 + index * 100, at + 9)
  bytes.writeInt32BE(525_000_000 + index * 100, at + 13)
  bytes.writeUInt16BE(34, at + 17)
  bytes.writeUInt16BE(index % 360, at + 19)
  bytes[at + 21] = 11
  bytes.writeUInt16BE(42, at + 22)
  bytes[at + 25] = 10
  const io = [
    5, 239, 1, 240, 1, 21, 4, 200, 0, 69, 1, 4, 181, 0, 9, 182, 0, 7, 66, 0x30, 0x39, 24, 0, 42, 1, 241, 0, 0, 98, 0, 0,
  ]
  Buffer.from(io).copy(bytes, at + 26)
}

const RECORD_BYTES = 57
const HEADER_BYTES = 10
