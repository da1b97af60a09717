import { Worker } from 'node:worker_threads'
import { inflateRawSync } from 'node:zlib'
import { english, say, type Text } from '../texts/text.ts'

/** Why a spreadsheet was not read: a sentence with the action. */
export class SpreadsheetError extends Error {
  readonly code = 'spreadsheet'
  readonly text: Text

  constructor(text: Text) {
    super(english(text))
    this.text = text
  }
}

/** Whether a file is a spreadsheet, or what claims to be one: a ZIP archive, or the format before it. */
export function isSpreadsheet(bytes: Buffer): boolean {
  return bytes.subarray(0, 4).equals(ZIP) || bytes.subarray(0, 8).equals(OLE)
}

/**
 * Returns the first sheet of an .xlsx file as CSV, a line for each row. Checks the archive before unpacking it, and parses it
 * in a separate thread, so that no file stops the process. @throws SpreadsheetError
 */
export async function spreadsheetText(bytes: Buffer): Promise<string> {
  if (bytes.length > MAX_PACKED)
    throw new SpreadsheetError(say('the spreadsheet has more than {} MiB', MAX_PACKED / MIB))
  if (bytes.subarray(0, 8).equals(OLE))
    throw new SpreadsheetError(say('an .xls file, or one with a password: save it as .xlsx without one'))
  refuseArchive(bytes)
  const worker = new Worker(new URL('./xlsx-worker.ts', import.meta.url), {
    workerData: new Uint8Array(bytes),
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const timer = setTimeout(() => reject(new SpreadsheetError(TOO_LONG)), MAX_MS)
  worker.once('message', ({ text, message }: { readonly text?: string; readonly message?: string }) =>
    text === undefined ? reject(unreadable(`${message}`)) : resolve(text),
  )
  worker.once('error', (error: NodeJS.ErrnoException) =>
    reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new SpreadsheetError(TOO_WIDE) : unreadable(error.message)),
  )
  worker.once('exit', () => reject(new SpreadsheetError(say('the spreadsheet cannot be read'))))
  return promise.finally(() => {
    clearTimeout(timer)
    void worker.terminate()
  })
}

/** @throws SpreadsheetError if the archive is no spreadsheet, has macros, or would be too large unpacked */
function refuseArchive(bytes: Buffer): void {
  const entries = zipEntries(bytes)
  const names = entries.map(({ name }) => name)
  if (names.some((name) => name.toLowerCase().endsWith('vbaproject.bin')))
    throw new SpreadsheetError(say('the spreadsheet has macros: save it as .xlsx, which has none'))
  if (!names.includes('xl/workbook.xml')) throw new SpreadsheetError(say('a ZIP archive, and not an .xlsx spreadsheet'))
  const unpacked = entries.reduce((sum, { size }) => sum + size, 0)
  if (unpacked > MAX_UNPACKED)
    throw new SpreadsheetError(
      say(
        'the spreadsheet would have {} MiB unpacked: at most {} are read; save the sheet alone, as CSV',
        Math.ceil(unpacked / MIB),
        MAX_UNPACKED / MIB,
      ),
    )
}

/** A file of a ZIP archive; `size`: unpacked. */
interface ZipEntry {
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
 * The files that the directory of an archive lists, up to the one that makes them too large. Each is unpacked within a bound,
 * since the directory may state a wrong size. @throws SpreadsheetError
 */
function zipEntries(bytes: Buffer): ZipEntry[] {
  const end = bytes.lastIndexOf(END)
  if (end < 0 || end + 22 > bytes.length) throw unreadable(say('its end is missing'))
  const count = bytes.readUInt16LE(end + 10)
  if (count > MAX_ENTRIES)
    throw new SpreadsheetError(
      say('the spreadsheet consists of {} files, which is too many: save the sheet as CSV', count),
    )
  const entries: ZipEntry[] = []
  let at = bytes.readUInt32LE(end + 16)
  let left = MAX_UNPACKED
  for (let index = 0; index < count; index++) {
    if (at + 46 > end || bytes.readUInt32BE(at) !== ENTRY) throw unreadable(say('its directory is damaged'))
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

/** @throws SpreadsheetError if a file does not have the size in the directory */
function verify(bytes: Buffer, at: number, size: number): void {
  const [method, packed, offset] = [
    bytes.readUInt16LE(at + 10),
    bytes.readUInt32LE(at + 20),
    bytes.readUInt32LE(at + 42),
  ]
  if (offset + 30 > bytes.length) throw unreadable(say('its directory is damaged'))
  const begin = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28)
  const content = bytes.subarray(begin, begin + packed)
  const isStored = method === STORED && content.length === size
  if (!isStored && (method !== DEFLATED || unpackedSize(content, size) !== size))
    throw unreadable(say('a file in it has another size than its directory says'))
}

function unpackedSize(content: Buffer, most: number): number {
  try {
    return inflateRawSync(content, { maxOutputLength: Math.max(1, most) }).length
  } catch {
    return -1
  }
}

function unreadable(why: Text): SpreadsheetError {
  return new SpreadsheetError(say('the spreadsheet cannot be read: {}', why))
}

const END = Buffer.from([0x50, 0x4b, 0x05, 0x06])
const ENTRY = 0x50_4b_01_02
const STORED = 0
const DEFLATED = 8
const ZIP = Buffer.from([0x50, 0x4b, 0x03, 0x04])
/** The first bytes of the format before .xlsx, and of files with a password. */
const OLE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])
const MIB = 1024 * 1024
const MAX_PACKED = 4 * MIB
/** A roster of 100,000 lines has 25 MiB. */
const MAX_UNPACKED = 32 * MIB
const MAX_ENTRIES = 1000
const MAX_HEAP_MIB = 512
const MAX_MS = 20_000
const TOO_WIDE = say(
  'the spreadsheet takes too much memory to read, since a cell far out is not empty: save the sheet as CSV',
)
const TOO_LONG = say('the spreadsheet takes longer than {} s to read: save the sheet as CSV', MAX_MS / 1000)
