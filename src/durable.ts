import { randomUUID } from 'node:crypto'
import { link, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A file that whoever needs it first makes. */
export interface KeptFile {
  /** Returns whether a text is one that `make` has made or a user has written; false: a loss of power left it. */
  readonly isWhole: (text: string) => boolean
  readonly make: () => string
}

/** Replaces a file, readable only by its owner. After a loss of power it holds the new or the old text, never a part. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, text, { mode: 0o600 })
  await moveDurably(draft, file)
}

/** Moves a file, or a folder with its direct entries. After a loss of power it is complete at one of the two places. */
export async function moveDurably(from: string, to: string): Promise<void> {
  await sync(from)
  await rename(from, to)
  await sync(dirname(to))
}

/** Returns the text of a file, which is made if it is missing, and replaced if it is not whole. */
export async function keptText(
  file: string,
  { isWhole, make }: KeptFile,
): Promise<{ readonly text: string; readonly is: 'kept' | 'made' | 'replaced' }> {
  const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (kept !== undefined && isWhole(kept)) return { text: kept, is: 'kept' }
  const text = make()
  if (kept !== undefined) {
    await writeDurably(file, text)
    // Another process may replace it as well.
    return { text: await readFile(file, 'utf8'), is: 'replaced' }
  }
  if (await createDurably(file, text)) return { text, is: 'made' }
  return { text: await readFile(file, 'utf8'), is: 'kept' }
}

/** Creates a file, unless another process creates it at the same time. Returns whether this one did. */
async function createDurably(file: string, text: string): Promise<boolean> {
  const draft = `${file}.${randomUUID()}`
  try {
    await writeFile(draft, text, { mode: 0o600, flush: true })
    await link(draft, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    await rm(draft, { force: true })
    await sync(dirname(file))
  }
}

/** Puts the content of a file on disk, or which entries a folder has. */
async function sync(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
