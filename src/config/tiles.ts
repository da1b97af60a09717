import { type FileHandle, open } from 'node:fs/promises'

/** Whether `page.tiles` is a file on disk. */
export function isTileFile(tiles: string | null): tiles is string {
  return tiles !== null && !/^https?:/.test(tiles)
}

/** Why a PMTiles file cannot be shown on the map: a sentence that names the file. Undefined: it can. */
export async function tileFileMistake(file: string): Promise<string | undefined> {
  let handle: FileHandle | undefined
  try {
    handle = await open(file)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0)
    return headerMistake(buffer.subarray(0, bytesRead), file, (await handle.stat()).size)
  } catch (error) {
    return `the file ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`
  } finally {
    await handle?.close()
  }
}

/**
 * PMTiles 3, section 3, little-endian: `PMTiles`, the version, offsets and lengths of four sections from byte 8 on, compression of
 * the directories (97) and of the tiles (98), type of the tiles (99).
 */
function headerMistake(header: Buffer, file: string, size: number): string | undefined {
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, 7) !== 'PMTiles') return `${file} is no PMTiles file`
  if (header[7] !== 3) return `${file} is PMTiles version ${header[7]}: expected version 3`
  const ends = [8, 24, 40, 56].map((at) => header.readBigUInt64LE(at) + header.readBigUInt64LE(at + 8))
  const end = ends.reduce((most, each) => (each > most ? each : most))
  if (end > BigInt(size)) return `${file} is cut short: it has ${size} of ${end} bytes`
  const [directories, tiles, type] = header.subarray(97, 100)
  if (!TYPES.has(type)) return `${file} has tiles of an unknown type: expected MVT, PNG, JPEG, WebP or AVIF`
  if (![directories, tiles].every((compression) => COMPRESSIONS.has(compression)))
    return `${file} is compressed with something else than gzip`
  return undefined
}

const HEADER_BYTES = 127
/** MVT, PNG, JPEG, WebP, AVIF. */
const TYPES = new Set([1, 2, 3, 4, 5])
/** Unknown, none, gzip. */
const COMPRESSIONS = new Set([0, 1, 2])
