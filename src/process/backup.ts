import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { moveDurably } from '../durable.ts'
import { UserError } from '../errors.ts'
import { FORMAT, readFormat, tooNew } from '../lanes/index.ts'
import { lockDataDir } from './data-dir.ts'
import { copyDatabase, type DataFolder, DATABASE, onStoredData, saveImage } from './stored-data.ts'

/** What a backup says of itself. */
export interface BackupManifest {
  /** Programs that know this number can unpack it. */
  readonly format: number
  /** The format of the data in Redis; undefined: they are older than formats. */
  readonly data_format?: number
  /** The version of waybridge that made the backup. */
  readonly version: string
  /** When it was begun, RFC 3339. */
  readonly at: string
}

export interface BackupOptions extends DataFolder {
  /** The version of this program. */
  readonly version: string
}

/**
 * Writes what a data folder holds to a file, whether the product runs on it or not, and changes nothing in it: first an image of
 * the private Redis, then one of the embedded tracking service. So every acknowledged fix is in one of them; what was delivered
 * in between is in both.
 * @throws UserError
 */
export async function backUp(file: string, options: BackupOptions): Promise<BackupManifest> {
  const { dataDir, version } = options
  if (!existsSync(join(dataDir, 'redis'))) throw new UserError(`${dataDir} has no data of a private Redis.`)
  if (existsSync(file)) throw new UserError(`${file} exists: name another file, or delete it.`)
  const at = new Date().toISOString()
  return inDraftFolder(dataDir, async (folder) => {
    const draft = join(folder, 'backup')
    await mkdir(draft)
    const data_format = await onStoredData(options, join(folder, 'copy'), async (data, redis) => {
      const dump = join(data, 'redis', 'dump.rdb')
      await saveImage(redis, dump)
      await rename(dump, join(draft, IMAGE))
      await copyDatabase(join(data, DATABASE), join(draft, DATABASE))
      return readFormat(redis)
    })
    for (const name of OTHERS)
      if (existsSync(join(dataDir, name))) await copyFile(join(dataDir, name), join(draft, name))
    const manifest: BackupManifest = { format: BACKUP_FORMAT, data_format, version, at }
    await writeFile(join(draft, MANIFEST), `${JSON.stringify(manifest)}\n`)
    await tar('-czf', `${file}.new`, '-C', draft, ...(await readdir(draft)))
    await chmod(`${file}.new`, 0o600)
    await moveDurably(`${file}.new`, file)
    return manifest
  })
}

/** Makes a data folder that holds what a backup holds. @throws UserError, also where the folder has data */
export async function restoreBackup(file: string, { dataDir, logger }: BackupOptions): Promise<BackupManifest> {
  if (!existsSync(file)) throw new UserError(`There is no file ${file}.`)
  const unlock = await lockDataDir(dataDir, logger)
  try {
    const there = (await readdir(dataDir)).filter((name) => !/\.lock(?:-|$)/.test(name))
    if (there.length > 0)
      throw new UserError(`${dataDir} has data (${there.join(', ')}): move it away, or choose another data_dir.`)
    return await inDraftFolder(dataDir, async (draft) => {
      await tar('-xzf', resolve(file), '-C', draft, '--no-same-owner')
      const manifest = await readManifest(draft, file)
      for (const name of [DATABASE, ...OTHERS])
        if (existsSync(join(draft, name))) await moveDurably(join(draft, name), join(dataDir, name))
      // An append-only file may begin with an image: Redis 7 and later move it to where theirs are.
      await mkdir(join(draft, 'redis'), { mode: 0o700 })
      await moveDurably(join(draft, IMAGE), join(draft, 'redis', 'appendonly.aof'))
      await moveDurably(join(draft, 'redis'), join(dataDir, 'redis'))
      return manifest
    })
  } finally {
    unlock()
  }
}

/** Runs `work` with a temporary folder beside the data, which is as private as they are, and removes it afterwards. */
async function inDraftFolder<Result>(dataDir: string, work: (draft: string) => Promise<Result>): Promise<Result> {
  const draft = await mkdtemp(join(dataDir, 'backup-'))
  try {
    return await work(draft)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function readManifest(folder: string, file: string): Promise<BackupManifest> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => undefined)
  const manifest = manifestIn(text ?? '')
  if (!manifest || !existsSync(join(folder, IMAGE))) throw new UserError(`${file} is no backup of waybridge.`)
  const { data_format = 0 } = manifest
  if (data_format > FORMAT) throw new UserError(tooNew(`The data in ${file}`, data_format))
  if (manifest.format > BACKUP_FORMAT)
    throw new UserError(
      `${file} was made by waybridge ${manifest.version}: restore it with that version, or a later one.`,
    )
  return manifest
}

function manifestIn(text: string): BackupManifest | undefined {
  try {
    return JSON.parse(text) as BackupManifest
  } catch {
    return undefined
  }
}

async function tar(...args: string[]): Promise<void> {
  try {
    await promisify(execFile)('tar', args)
  } catch (error) {
    const { code, stderr = '' } = error as NodeJS.ErrnoException & { stderr?: string }
    if (code === 'ENOENT') throw new UserError('The program tar is missing: install it.')
    throw new UserError(`tar: ${stderr.trim().split('\n')[0]}.`)
  }
}

const BACKUP_FORMAT = 1
const MANIFEST = 'manifest.json'
const IMAGE = 'redis.rdb'
const OTHERS = ['admin-token', 'installation']
