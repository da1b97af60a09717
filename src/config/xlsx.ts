import { Worker } from 'node:worker_threads'
import { ZipError, zipEntries } from './zip.ts'

/** Why a spreadsheet is not read: a sentence that says what to do. */
export class SpreadsheetError extends Error {
  readonly code = 'spreadsheet'
}

/** Whether a file is a spreadsheet, or what claims to be one: a ZIP archive, or the format before it. */
export function isSpreadsheet(bytes: Buffer): boolean {
  return bytes.subarray(0, 4).equals(ZIP) || bytes.subarray(0, 8).equals(OLE)
}

/**
 * The first sheet of an .xlsx file as CSV, a line for each of its rows. The archive is looked at before it is unpacked, and
 * parsed in a thread of its own, so that no file stops the process. @throws SpreadsheetError
 */
export async function spreadsheetText(bytes: Buffer): Promise<string> {
  if (bytes.length > MAX_PACKED) throw new SpreadsheetError(`the spreadsheet has more than ${MAX_PACKED / MIB} MiB`)
  if (bytes.subarray(0, 8).equals(OLE))
    throw new SpreadsheetError('an .xls file, or one with a password: save it as .xlsx without one')
  refuseArchive(bytes)
  const worker = new Worker(new URL('./xlsx-worker.ts', import.meta.url), {
    workerData: new Uint8Array(bytes),
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const timer = setTimeout(() => reject(new SpreadsheetError(TOO_LONG)), MAX_MS)
  worker.once('message', ({ text, message }: { readonly text?: string; readonly message?: string }) =>
    text === undefined ? reject(new SpreadsheetError(`the spreadsheet cannot be read: ${message}`)) : resolve(text),
  )
  worker.once('error', (error) => reject(new SpreadsheetError(`the spreadsheet cannot be read: ${error.message}`)))
  worker.once('exit', () => reject(new SpreadsheetError('the spreadsheet cannot be read')))
  return promise.finally(() => {
    clearTimeout(timer)
    void worker.terminate()
  })
}

/** @throws SpreadsheetError where the archive is no spreadsheet, has macros, or would be too large unpacked */
function refuseArchive(bytes: Buffer): void {
  const entries = entriesOf(bytes)
  const names = entries.map(({ name }) => name)
  if (names.some((name) => name.toLowerCase().endsWith('vbaproject.bin')))
    throw new SpreadsheetError('the spreadsheet has macros: save it as .xlsx, which has none')
  if (!names.includes('xl/workbook.xml')) throw new SpreadsheetError('a ZIP archive, and not an .xlsx spreadsheet')
  const unpacked = entries.reduce((sum, { size }) => sum + size, 0)
  if (unpacked > MAX_UNPACKED || entries.length > MAX_ENTRIES)
    throw new SpreadsheetError(
      `the spreadsheet would have ${Math.ceil(unpacked / MIB)} MiB unpacked: at most ${MAX_UNPACKED / MIB} are read; save the roster alone, as CSV`,
    )
}

function entriesOf(bytes: Buffer) {
  try {
    return zipEntries(bytes, MAX_UNPACKED)
  } catch (error) {
    if (error instanceof ZipError) throw new SpreadsheetError(`the spreadsheet cannot be read: ${error.message}`)
    throw error
  }
}

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
const TOO_LONG = `the spreadsheet takes longer than ${MAX_MS / 1000} s to read: save the roster as CSV`
