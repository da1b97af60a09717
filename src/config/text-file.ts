import { readFile, stat } from 'node:fs/promises'
import { ConfigError, type Problem } from './problem.ts'

/** Identifies the state of a file without reading it: another one where it was replaced or written, also behind a link. */
export async function fingerprintOf(file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch(() => undefined)
  return found ? `${file} ${found.dev} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}` : file
}

/** The text of a file; undefined where there is no such file. @throws ConfigError where it cannot be read. */
export function textOf(file: string): Promise<string | undefined> {
  return ifThere(readFile(file, 'utf8'), file)
}

/** Undefined only where there is no such thing: what cannot be read for a moment must not look as if it were gone. */
export async function ifThere<Found>(reading: Promise<Found>, file: string): Promise<Found | undefined> {
  try {
    return await reading
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw unreadable(file, `cannot be read (${code})`)
  }
}

export function unreadable(file: string, message: string): ConfigError {
  return new ConfigError([{ severity: 'mistake', file, message }] satisfies Problem[])
}
