import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { fetchedDir, findRedisServer } from './redis-server.mjs'

const FLAVOURS = ['redis', 'valkey']

/** As root, apt would step down to a user who may not write here; otherwise the system's locks are not ours to take. */
const asWeAre = ['-qq', '-o', 'APT::Sandbox::User=root', '-o', 'Debug::NoLocking=1']

/** Whether this is a system whose packages we can unpack, and the user has not chosen a server already. */
export function canFetchRedis() {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const has = (/** @type {string} */ tool) => folders.some((folder) => existsSync(join(folder, tool)))
  return !process.env.WAYBRIDGE_REDIS_SERVER && has('apt-get') && has('dpkg')
}

/**
 * Takes a Redis server from the system's packages (Debian, Ubuntu) without installing it and without root: downloaded and
 * verified by apt, unpacked into `fetchedDir`. Answers whether there is a usable one now.
 */
export async function fetchRedis() {
  const work = `${fetchedDir}.new`
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work, { recursive: true })
  try {
    return (await fetchAny(work, [])) || (await fetchAny(work, await updatedLists(work)))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/**
 * @param {string} work
 * @param {string[]} lists apt's options for the package lists to look in
 */
async function fetchAny(work, lists) {
  for (const flavour of FLAVOURS) {
    if (await fetchFlavour(flavour, work, lists)) return true
  }
  return false
}

/**
 * @param {string} flavour
 * @param {string} work
 * @param {string[]} lists
 */
async function fetchFlavour(flavour, work, lists) {
  const [packages, unpacked] = [join(work, 'packages'), join(work, 'unpacked')]
  for (const folder of [packages, unpacked]) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
  }
  const names = await missingPackages(flavour, lists)
  if (!(await run('apt-get', [...lists, ...asWeAre, 'download', ...names], packages)).ok) return false
  for (const file of readdirSync(packages)) await run('dpkg', ['-x', join(packages, file), unpacked])
  rmSync(fetchedDir, { recursive: true, force: true })
  renameSync(unpacked, fetchedDir)
  return findRedisServer() !== undefined
}

/**
 * The server and each library of it that this system lacks. The server's program is in the package of the tools.
 * @param {string} flavour
 * @param {string[]} lists
 */
async function missingPackages(flavour, lists) {
  const server = `${flavour}-server`
  const install = ['install', '--print-uris', '--yes', '--no-install-recommends', server]
  const { stdout } = await run('apt-get', [...lists, ...asWeAre, ...install])
  const missing = [...stdout.matchAll(/^'\S+' ([^_\s]+)_\S+\.deb/gm)].map((match) => match[1])
  return [...new Set([...missing, server, `${flavour}-tools`])]
}

/**
 * Package lists of our own, for a system that has none, or old ones.
 * @param {string} work
 */
async function updatedLists(work) {
  const [lists, cache] = [join(work, 'lists'), join(work, 'cache')]
  for (const folder of [lists, join(cache, 'archives')]) mkdirSync(join(folder, 'partial'), { recursive: true })
  const options = ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${cache}`]
  await run('apt-get', [...options, ...asWeAre, 'update'])
  return options
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} [cwd]
 */
async function run(command, args, cwd) {
  try {
    return { ok: true, ...(await promisify(execFile)(command, args, { cwd })) }
  } catch {
    return { ok: false, stdout: '' }
  }
}
