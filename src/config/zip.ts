import { inflateRawSync } from 'node:zlib'

/** An archive that is damaged, or contradicts itself. */
export class ZipError extends Error {
  readonly code = 'zip'
}

/** A file of a ZIP archive; `size`: unpacked. */
export interface ZipEntry {
  readonly name: string
  readonly size: number
}

/*
 * The end of an archive, and the directory that it points to, little-endian:
 *
 *   50 4B 05 06  …  count (at 10, 2)  …  offset of the directory (at 16, 4)
 *   50 4B 01 02  …  method (10, 2)  …  packed (20, 4)  size (24, 4)  name, extra, comment: lengths (28, 2 each)  …  offset (42, 4)
 */

/**
 * The files that the directory of an archive lists. A file is unpacked within a bound, since the directory may state a
 * wrong size.
 * @param most bytes of all files
 * @throws ZipError
 */
export function zipEntries(bytes: Buffer, most: number): ZipEntry[] {
  const end = bytes.lastIndexOf(END)
  if (end < 0 || end + 22 > bytes.length) throw new ZipError('its end is missing')
  const count = bytes.readUInt16LE(end + 10)
  const entries: ZipEntry[] = []
  let at = bytes.readUInt32LE(end + 16)
  let left = most
  for (let index = 0; index < count; index++) {
    if (at + 46 > end || bytes.readUInt32BE(at) !== ENTRY) throw new ZipError('its directory is damaged')
    const [size, nameLength] = [bytes.readUInt32LE(at + 24), bytes.readUInt16LE(at + 28)]
    const name = bytes.subarray(at + 46, at + 46 + nameLength).toString()
    entries.push({ name, size })
    left -= size
    if (left < 0) return entries
    verify(bytes, at, size)
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return entries
}

/** @throws ZipError where a file does not have the size that the directory says */
function verify(bytes: Buffer, at: number, size: number): void {
  const [method, packed, offset] = [
    bytes.readUInt16LE(at + 10),
    bytes.readUInt32LE(at + 20),
    bytes.readUInt32LE(at + 42),
  ]
  if (offset + 30 > bytes.length) throw new ZipError('its directory is damaged')
  const begin = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28)
  const content = bytes.subarray(begin, begin + packed)
  const isStored = method === STORED && content.length === size
  if (!isStored && (method !== DEFLATED || unpackedSize(content, size) !== size))
    throw new ZipError('a file in it has another size than its directory says')
}

function unpackedSize(content: Buffer, most: number): number {
  try {
    return inflateRawSync(content, { maxOutputLength: Math.max(1, most) }).length
  } catch {
    return -1
  }
}

const END = Buffer.from([0x50, 0x4b, 0x05, 0x06])
const ENTRY = 0x50_4b_01_02
const STORED = 0
const DEFLATED = 8
