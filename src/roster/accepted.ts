import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from '../config/problem.ts'
import type { Files } from './files.ts'

/** Where the texts of the files that are in effect are kept. */
export function acceptedFile(dataDir: string): string {
  return join(dataDir, 'accepted.json')
}

/**
 * The texts, by their names, of the files that were in effect last; undefined where none are kept.
 * @throws ConfigError where they cannot be read
 */
export async function readAccepted(dataDir: string): Promise<ReadonlyMap<string, string> | undefined> {
  const file = acceptedFile(dataDir)
  try {
    return new Map(JSON.parse(await readFile(file, 'utf8')) as [string, string][])
  } catch (error) {
    const { code = 'it is damaged' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new ConfigError([{ severity: 'mistake', file, message: `cannot be read (${code}): delete it` }])
  }
}

/** Keeps the texts of the files that are in effect, in one step; resolves once they are on disk. Devices have secrets. */
export async function keepAccepted(dataDir: string, { gateway, devices, routes }: Files): Promise<void> {
  const texts = [gateway, ...devices, ...routes].map(({ source }) => [source.name, source.text])
  const file = acceptedFile(dataDir)
  const draft = `${file}.${process.pid}`
  await mkdir(dataDir, { recursive: true })
  const handle = await open(draft, 'w', 0o600)
  try {
    await handle.writeFile(JSON.stringify(texts))
    await handle.datasync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
}
