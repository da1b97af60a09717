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
  const read = async () => (await readFile(file, 'utf8')).trim()
  const known = await read().catch(() => undefined)
  if (known !== undefined) return { id: known, isNew: false }
  const id = randomUUID()
  await mkdir(dataDir, { recursive: true })
  await writeFile(file, `${id}\n`, { flag: 'wx' }).catch(() => {})
  // Another process may have made it meanwhile.
  return { id: await read().catch(() => id), isNew: true }
}

/** Reads what is known of the files with these names, and of those that this installation has written. */
export async function readFileNotes(redis: Redis, installation: string, names: Iterable<string>): Promise<FileNotes> {
  const texts = new Map(Object.entries(await redis.hgetall(keys.roster('file-versions'))))
  const versions = new Map<string, readonly NotedVersion[]>()
  const [bases, latest] = [new Map<string, FileVersion>(), new Map<string, FileVersion>()]
  const own = baseField(installation, '')
  const written = [...texts.keys()].filter((field) => field.startsWith(own)).map((field) => field.slice(own.length))
  for (const name of new Set([...names, ...written])) {
    const noted: NotedVersion[] = JSON.parse(texts.get(versionsField(name)) ?? '[]')
    versions.set(name, noted)
    const writer = noted.at(-1)?.[1] ?? installation
    const base = await unpacked(texts.get(baseField(installation, name)))
    const last = writer === installation ? base : await unpacked(texts.get(baseField(writer, name)))
    if (base) bases.set(name, base)
    if (last) latest.set(name, last)
  }
  return { bases, versions, latest }
}

async function unpacked(base: string | undefined): Promise<FileVersion | undefined> {
  if (base === undefined) return undefined
  const [hash, marks] = JSON.parse((await unpack(Buffer.from(base, 'base64'))).toString())
  return { hash, marks: new Map(marks) }
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
