import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasApt, libraryPath, unpackPackages, updatedLists } from '../../src/process/setup/apt.mjs'
import { withLock } from '../../src/process/setup/lock.mjs'

/* Programs of Debian that tests use: those on PATH, else unpacked from the system's packages, without installing them and without root. */

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/waybridge', import.meta.url))
const searchPath = (process.env.PATH ?? '').split(delimiter).filter(Boolean)

/**
 * The first file of these names in a folder of PATH.
 * @param {string[]} names
 */
export function onPath(...names) {
  return names.flatMap((name) => searchPath.map((folder) => join(folder, name))).find((file) => existsSync(file))
}

/**
 * The folder into which packages are unpacked.
 * @param {string} name
 */
export function unpackedDir(name) {
  return join(CACHE, name)
}

/**
 * Unpacks packages into the folder `dir`, in place of what it holds. Leaves it as it is where they cannot be downloaded, and where
 * another process was faster: the caller looks for the program.
 * @param {string[]} names
 * @param {string} dir
 * @param {(work: string) => string[]} [optionsOf] options of apt for package lists of their own; default: those of the system, or newer ones
 */
export async function fetchPackages(names, dir, optionsOf) {
  const isThere = existsSync(dir)
  const work = `${dir}.${process.pid}.new`
  const [packages, unpacked] = [join(work, 'packages'), join(work, 'unpacked')]
  mkdirSync(work, { recursive: true })
  /** @param {string[]} lists */
  const unpack = (lists) => unpackPackages(names, { packages, unpacked, lists })
  try {
    if (optionsOf) await unpack(await updatedLists(work, optionsOf(work)))
    else await unpack([]).catch(async () => unpack(await updatedLists(work)))
    if (isThere) rmSync(dir, { recursive: true, force: true })
    renameSync(unpacked, dir)
  } catch {
    // There is no such package, no network, or the folder is there by now.
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/**
 * Before tests: fetches a program where there is none, and says that tests are skipped where it cannot be fetched.
 * @param {{ find: () => unknown, fetch: () => Promise<void>, what: string, skipped: string, canFetch?: boolean }} program
 */
export async function fetchUnlessFound({ find, fetch, what, skipped, canFetch = hasApt() }) {
  if (find()) return
  if (canFetch) {
    process.stderr.write(`Downloading ${what} …\n`)
    await withLock(fetch)
  }
  if (!find()) process.stderr.write(`${skipped}\n`)
}

/**
 * A program of Debian, and the variables that it needs in addition to the process' environment.
 * @typedef {{ command: string, env: Record<string, string> }} Program
 */

/**
 * A server program whose package has its name; undefined if there is none.
 * @param {string} name
 * @returns {Promise<Program | undefined>}
 */
export async function findProgram(name) {
  const installed = onPath(name) ?? ['/usr/sbin'].map((folder) => join(folder, name)).find((file) => existsSync(file))
  if (installed) return { command: installed, env: {} }
  const dir = unpackedDir(name)
  if (!existsSync(dir) && hasApt()) await fetchPackages([name], dir)
  return existsSync(dir) ? { command: join(dir, 'usr/sbin', name), env: libraryPath(dir) } : undefined
}
