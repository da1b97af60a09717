import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, type Stats } from 'node:fs'
import {
  chmod,
  copyFile,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'
import { moveDurably } from '../durable.ts'
import { UserError } from '../errors.ts'
import { FORMAT, readFormat, tooNew } from '../store/index.ts'
import { DRAFT, lockDataDir } from './data-dir.ts'
import {
  copyDatabase,
  DATABASE,
  type DataFolder,
  leaveOutKept,
  loadImage,
  onStoredData,
  saveImage,
} from './stored-data.ts'

/** The first part of a backup file: what it holds, and who can read it. */
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
  /** Whether a backup holds the delivered fixes that are kept. */
  readonly withKept?: boolean
}

/**
 * Writes the content of a data folder to a file, whether the product runs on it or not, and changes nothing in it: first an
 * image of the private Redis, then one of the embedded tracking service. So every acknowledged fix is in one of them; fixes
 * delivered in between are in both. @throws UserError
 */
export async function backUp(file: string, options: BackupOptions): Promise<BackupManifest> {
  const { dataDir, version, withKept = false } = options
  if (!existsSync(join(dataDir, 'redis'))) throw new UserError(`${dataDir} has no data of a private Redis.`)
  if (existsSync(file)) throw new UserError(`${file} exists: name another file, or delete it.`)
  const at = new Date().toISOString()
  return inDraftFolder(dataDir, async (folder) => {
    const draft = join(folder, 'backup')
    await mkdir(draft)
    const data_format = await onStoredData(options, join(folder, 'copy'), async (data, redis) => {
      await saveImage(redis, join(data, 'redis', 'dump.rdb'), join(draft, IMAGE))
      await copyDatabase(join(data, DATABASE), join(draft, DATABASE))
      return readFormat(redis)
    })
    if (!withKept) await leaveOutKept(join(draft, IMAGE), join(folder, 'without-kept'), options)
    for (const name of OTHERS)
      if (existsSync(join(dataDir, name))) await copyFile(join(dataDir, name), join(draft, name))
    const manifest: BackupManifest = { format: BACKUP_FORMAT, data_format, version, at }
    await writeFile(join(draft, MANIFEST), `${JSON.stringify(manifest)}\n`)
    await packInto(file, draft)
    return manifest
  })
}

/** Packs a folder into a file, which is whole although another backup writes to the same one. */
async function packInto(file: string, folder: string): Promise<void> {
  const packing = `${file}.${randomUUID()}`
  try {
    await tar('-czf', packing, '-C', folder, ...(await readdir(folder)))
    await chmod(packing, 0o600)
    await moveDurably(packing, file)
  } finally {
    await rm(packing, { force: true })
  }
}

/** Creates a data folder with the content of a backup. @throws UserError, also if the folder has data */
export async function restoreBackup(file: string, options: BackupOptions): Promise<BackupManifest> {
  const { dataDir, maxMemory, logger } = options
  if (!existsSync(file)) throw new UserError(`There is no file ${file}.`)
  const owner = await ownerOf(dataDir)
  const unlock = await lockDataDir(dataDir, logger)
  try {
    const there = (await readdir(dataDir)).filter((name) => !/\.lock(?:-|$)/.test(name))
    if (there.length > 0)
      throw new UserError(`${dataDir} has data (${there.join(', ')}): move it away, or choose another data_dir.`)
    const restored = await inDraftFolder(dataDir, async (draft) => {
      await unpack(resolve(file), draft)
      const manifest = await readManifest(draft, file)
      await loadImage(join(draft, IMAGE), { dataDir: draft, maxMemory, logger })
      for (const name of [DATABASE, ...OTHERS, 'redis'])
        if (existsSync(join(draft, name))) await moveDurably(join(draft, name), join(dataDir, name))
      return manifest
    })
    if (owner && process.getuid?.() === 0) await giveTo(owner, dataDir)
    return restored
  } finally {
    unlock()
  }
}

/** The owner of a data folder, or of the folder that it will be in: the user of a service, for whom root restores. */
async function ownerOf(dataDir: string): Promise<Stats | undefined> {
  return stat(dataDir).catch(() => stat(dirname(dataDir)).catch(() => undefined))
}

async function giveTo({ uid, gid }: Stats, folder: string): Promise<void> {
  for (const name of ['', ...(await readdir(folder, { recursive: true }))]) await lchown(join(folder, name), uid, gid)
}

/** Runs `work` with a temporary folder beside the data, which is as private as they are, and removes it afterwards. */
async function inDraftFolder<Result>(dataDir: string, work: (draft: string) => Promise<Result>): Promise<Result> {
  const draft = await mkdtemp(join(dataDir, DRAFT))
  try {
    return await work(draft)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/**
 * Unpacks the files of a backup, which may come from anybody: only the expected files, no link or device, and without the
 * permissions in the archive. @throws UserError
 */
async function unpack(file: string, folder: string): Promise<void> {
  const members = new Set((await tar('-tzf', file)).split('\n'))
  const ours = [...members].filter((member) => FILES.includes(member.replace(/^\.\//, '')))
  if (ours.length > 0) await tar('-xzf', file, '-C', folder, '--no-same-owner', '--no-same-permissions', ...ours)
  for (const name of await readdir(folder)) {
    const found = await lstat(join(folder, name))
    if (!found.isFile() || found.nlink > 1)
      throw new UserError(`${file} is no backup of waybridge: ${name} is a link, or no file.`)
    await chmod(join(folder, name), 0o600)
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
    return MANIFEST_SCHEMA.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** Resolves to what tar prints. */
async function tar(...args: string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('tar', args)
    return stdout
  } catch (error) {
    const { code, message, stderr } = error as NodeJS.ErrnoException & { stderr?: string }
    if (code === 'ENOENT') throw new UserError('The program tar is missing: install it.')
    throw new UserError(`tar: ${(stderr || message).trim().split('\n')[0]}.`)
  }
}

const BACKUP_FORMAT = 1
const MANIFEST = 'manifest.json'
/** Only checked values are printed, no foreign text. */
const MANIFEST_SCHEMA: z.ZodType<BackupManifest> = z.object({
  format: z.int(),
  data_format: z.int().optional(),
  version: z.string().regex(/^[\w.+-]{1,64}$/),
  at: z.iso.datetime(),
})
const IMAGE = 'redis.rdb'
const OTHERS = ['admin-token', 'installation']
const FILES = [MANIFEST, IMAGE, DATABASE, ...OTHERS]
