import { randomUUID } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'

/**
 * Makes a data folder, or takes from others what they may do in one that is there: positions of people are in it. What this
 * user may not change is logged.
 */
export async function openDataDir(dataDir: string, logger: Logger): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const redis = join(dataDir, 'redis')
  const entries = [...(await entriesOf(dataDir, false)), ...(await entriesOf(redis, true))]
  for (const path of [dataDir, redis, ...entries]) await takeFromOthers(path, logger)
}

/** The id of the installation that a data folder belongs to; `isNew`: it was made by this call. */
export async function installationId(dataDir: string): Promise<{ id: string; isNew: boolean }> {
  const file = join(dataDir, 'installation')
  const made = randomUUID()
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  // Another process may make it meanwhile.
  const isNew = await writeFile(file, `${made}\n`, { flag: 'wx', mode: 0o600 })
    .then(() => true)
    .catch(() => false)
  const id = await readFile(file, 'utf8').catch(() => made)
  return { id: id.trim(), isNew }
}

/** The files in a folder, and with `recursive` those below it and the folders; none where it is not there. */
async function entriesOf(folder: string, recursive: boolean): Promise<string[]> {
  const entries = await readdir(folder, { recursive, withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return entries
    .filter((entry) => entry.isFile() || (recursive && entry.isDirectory()))
    .map(({ parentPath, name }) => join(parentPath, name))
}

async function takeFromOthers(path: string, logger: Logger): Promise<void> {
  try {
    const { mode } = await stat(path)
    if ((mode & OTHERS) !== 0) await chmod(path, mode & 0o700)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') logger.warn({ reason: message }, `other users may be able to read ${path}`)
  }
}

/** Group and others. */
const OTHERS = 0o077
