import { randomUUID } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { type FieldTexts, keys, type Redis } from '../lanes/index.ts'
import type { FileVersion } from './file-content.ts'

/*
 * What Redis knows of files, in one hash:
 *
 *   versions <name>               JSON: the last 100 versions of all files of this name, oldest first, as `NotedVersion`
 *   base <installation> <name>    what the file of this installation wrote last: JSON of the marks, gzip, base64
 */

/** A version of a file that was written: what tells its text, who wrote it, and the roster's version before that. */
export type NotedVersion = readonly [hash: string, installation: string, asOf: number]

/** What is known of the files of some names. */
export interface FileNotes {
  /** What this installation wrote last. */
  readonly bases: ReadonlyMap<string, FileVersion>
  readonly versions: ReadonlyMap<string, readonly NotedVersion[]>
  /** The last version of each name that has one, whoever wrote it. */
  readonly latest: ReadonlyMap<string, FileVersion>
}

/** The id of the installation that a data folder belongs to; `isNew`: it was made by this call. */
export async function installationId(dataDir: string): Promise<{ id: string; isNew: boolean }> {
  const file = join(dataDir, 'installation')
  try {
    return { id: (await readFile(file, 'utf8')).trim(), isNew: false }
  } catch {
    const id = randomUUID()
    await mkdir(dataDir, { recursive: true })
    await writeFile(file, `${id}\n`, { flag: 'wx' }).catch(() => {})
    return {
      id: await readFile(file, 'utf8').then(
        (text) => text.trim(),
        () => id,
      ),
      isNew: true,
    }
  }
}

/** Reads what is known of the files with these names, and of those that this installation has written. */
export async function readFileNotes(redis: Redis, installation: string, names: Iterable<string>): Promise<FileNotes> {
  const own = `base ${installation} `
  const fields = await redis.hkeys(keys.roster('file-versions'))
  const written = fields.filter((field) => field.startsWith(own)).map((field) => field.slice(own.length))
  const all = [...new Set([...names, ...written])]
  const versions = new Map(
    (await readFields(redis, all.map(versionsField))).map((text, n) => [all[n], text === null ? [] : JSON.parse(text)]),
  )
  const bases = await readBases(
    redis,
    all.map((name) => [name, installation]),
  )
  const latest = await readBases(
    redis,
    all.map((name) => [name, versions.get(name)?.at(-1)?.[1] ?? installation]),
  )
  return { bases, versions, latest }
}

/** The fields that note a file's next version; without one the file is gone. */
export async function versionNotes(
  name: string,
  next: { version?: FileVersion; installation: string; asOf: number },
  before: readonly NotedVersion[] = [],
): Promise<FieldTexts> {
  const { version, installation, asOf } = next
  const base = baseField(installation, name)
  if (!version) return [[base, null]]
  const versions = [...before, [version.hash, installation, asOf] as const].slice(-MOST_VERSIONS)
  const writers = [...new Set(versions.map(([, writer]) => writer).toReversed())]
  const packed = await pack(JSON.stringify([version.hash, [...version.marks]]))
  return [
    [versionsField(name), JSON.stringify(versions)],
    [base, packed.toString('base64')],
    ...writers.slice(MOST_WRITERS).map((writer) => [baseField(writer, name), null] as const),
  ]
}

async function readBases(
  redis: Redis,
  wanted: readonly (readonly [name: string, installation: string])[],
): Promise<ReadonlyMap<string, FileVersion>> {
  const texts = await readFields(
    redis,
    wanted.map(([name, installation]) => baseField(installation, name)),
  )
  const bases = new Map<string, FileVersion>()
  for (const [n, text] of texts.entries()) {
    if (text === null) continue
    const [hash, marks] = JSON.parse((await unpack(Buffer.from(text, 'base64'))).toString())
    bases.set(wanted[n][0], { hash, marks: new Map(marks) })
  }
  return bases
}

async function readFields(redis: Redis, fields: readonly string[]): Promise<(string | null)[]> {
  return fields.length === 0 ? [] : redis.hmget(keys.roster('file-versions'), ...fields)
}

function versionsField(name: string): string {
  return `versions ${name}`
}

function baseField(installation: string, name: string): string {
  return `base ${installation} ${name}`
}

const pack = promisify(gzip)
const unpack = promisify(gunzip)
const MOST_VERSIONS = 100
/** Installations whose last version of a file is kept: one without a data folder of its own has a new id at each start. */
const MOST_WRITERS = 10
