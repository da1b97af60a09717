import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'

/** A version of the product that can be run. */
export interface Version {
  /** What Node runs. */
  readonly cli: string
  /** Removes what was unpacked. */
  end(): Promise<void>
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The one that this file belongs to. */
export const thisVersion: Version = { cli: cliIn(ROOT), end: async () => {} }

/**
 * Unpacks the program of a commit, with the packages of this one where both lock the same ones. Undefined if the clone does
 * not have that commit.
 */
export async function versionOf(commit: string): Promise<Version | undefined> {
  if (!isThere(commit)) return undefined
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-version-'))
  execFileSync('git', ['archive', '--output', join(dir, 'version.tar'), commit], { cwd: ROOT })
  execFileSync('tar', ['-xf', 'version.tar'], { cwd: dir })
  if (isDeepStrictEqual(packagesOf(dir), packagesOf(ROOT)))
    symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  else execFileSync('npm', ['ci', '--ignore-scripts=false'], { cwd: dir, stdio: 'inherit' })
  return { cli: cliIn(dir), end: () => rm(dir, { recursive: true, force: true }) }
}

function isThere(commit: string): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Of the lock file, without what the product itself says. */
function packagesOf(dir: string): object {
  const lock = JSON.parse(readFileSync(join(dir, 'package-lock.json'), 'utf8')) as { packages: Record<string, object> }
  return { ...lock.packages, '': undefined }
}

function cliIn(dir: string): string {
  return join(dir, 'src/cli/index.ts')
}
