import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './structure/sources.ts'

/** A package as package-lock.json has it. */
export interface LockedPackage {
  readonly name: string
  readonly version: string
  readonly licence: string
  /** Where it comes from, if not from the registry; the hash of its file. */
  readonly resolved: string | undefined
  readonly integrity: string | undefined
  readonly hasInstallScript: boolean
  readonly isDev: boolean
}

/** Every package of a lock file, by name. */
export function lockedPackages(file = 'package-lock.json'): LockedPackage[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as { packages: Lock }
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, { version, license = 'unknown', resolved, integrity, hasInstallScript = false, dev = false }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
      return { name, version, licence: license, resolved, integrity, hasInstallScript, isDev: dev }
    })
    .toSorted((one, other) => one.name.localeCompare(other.name))
}

type Lock = Record<string, LockEntry>

interface LockEntry {
  readonly version: string
  readonly license?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
}
