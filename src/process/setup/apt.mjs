import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

/* Programs from the system's packages (Debian, Ubuntu) without installing them and without root: apt verifies, dpkg unpacks. */

/** @param {string} program @param {string[]} args @param {{ cwd?: string }} options */
const run = (program, args, options = {}) =>
  promisify(execFile)(program, args, { timeout: STEP_MS, killSignal: 'SIGKILL', ...options })

/** Time limit of each step: a mirror that stops sending must not block a start for ever. */
const STEP_MS = 300_000

/** As root, apt would switch to a user who may not write here. The system's locks are not needed. */
const APT_OPTIONS = ['-qq', '-o', 'APT::Sandbox::User=root', '-o', 'Debug::NoLocking=1']

/** Whether this system's packages can be unpacked here. */
export function hasApt() {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => folder && existsSync(join(folder, 'apt-get')))
}

/**
 * Downloads packages into the folder `packages`, with their dependencies that this system lacks, and unpacks them into the
 * folder `unpacked`; empties both first. Rejects if one cannot be downloaded. @param {string[]} names @param {{ packages:
 * string, unpacked: string, lists: string[] }} where lists: apt's options that name the package lists
 */
export async function unpackPackages(names, { packages, unpacked, lists }) {
  for (const folder of [packages, unpacked]) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
  }
  const apt = [...lists, ...APT_OPTIONS]
  const install = ['install', '--print-uris', '--yes', '--no-install-recommends', names[0]]
  const { stdout } = await run('apt-get', [...apt, ...install])
  const missing = [...stdout.matchAll(/^'\S+' ([^_\s]+)_\S+\.deb/gm)].map((match) => match[1])
  await run('apt-get', [...apt, 'download', ...new Set([...missing, ...names])], { cwd: packages })
  for (const file of readdirSync(packages)) await run('dpkg', ['-x', join(packages, file), unpacked])
}

/**
 * Downloads package lists into `work`; resolves to apt's options that name them. Continues without lists that cannot be
 * downloaded: the packages may be in the others. @param {string} work @param {string[]} more further options of apt
 */
export async function updatedLists(work, more = []) {
  const [lists, cache] = [join(work, 'lists'), join(work, 'cache')]
  for (const folder of [lists, join(cache, 'archives')]) mkdirSync(join(folder, 'partial'), { recursive: true })
  const options = ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${cache}`, ...more]
  await run('apt-get', [...options, ...APT_OPTIONS, 'update']).catch(() => {})
  return options
}

/**
 * The variable with which a program that was unpacked below `folder` finds its libraries.
 * @param {string} folder
 */
export function libraryPath(folder) {
  // The names of the folders with libraries contain the architecture.
  const libraries = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.so(\.\d+)*$/.test(file),
  )
  const folders = new Set(libraries.map((file) => dirname(join(folder, file))))
  return { LD_LIBRARY_PATH: [...folders, process.env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter) }
}
