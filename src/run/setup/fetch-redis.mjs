import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fetchedDir, findRedisServer } from './redis-server.mjs'

const FLAVOURS = ['redis', 'valkey']

/**
 * Takes a Redis server from the system's packages (Debian, Ubuntu) without installing it and without root: download, check
 * by apt, unpack into `fetchedDir`. Answers whether there is a usable one now.
 */
export function fetchRedis() {
  if (!hasApt()) return false
  const work = `${fetchedDir}.${process.pid}`
  try {
    return fetchAny(work, () => []) || fetchAny(work, () => updatedLists(work))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function hasApt() {
  return ['apt-get', 'dpkg'].every((tool) => attempt(() => run(tool, ['--version'])) !== undefined)
}

/**
 * @param {string} work
 * @param {() => string[]} findLists apt's options for the package lists to look in
 */
function fetchAny(work, findLists) {
  const lists = attempt(findLists)
  return lists !== undefined && FLAVOURS.some((flavour) => fetchFlavour(flavour, work, lists))
}

/**
 * @param {string} flavour
 * @param {string} work
 * @param {string[]} lists
 */
function fetchFlavour(flavour, work, lists) {
  const unpacked = attempt(() => unpack(flavour, work, lists))
  if (!unpacked) return false
  rmSync(fetchedDir, { recursive: true, force: true })
  renameSync(unpacked, fetchedDir)
  return findRedisServer() !== undefined
}

/**
 * Package lists of our own, for a system that has none, or old ones.
 * @param {string} work
 */
function updatedLists(work) {
  const [lists, cache] = [join(work, 'lists'), join(work, 'cache')]
  for (const folder of [lists, join(cache, 'archives')]) mkdirSync(join(folder, 'partial'), { recursive: true })
  const options = ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${cache}`]
  run('apt-get', [...options, ...asWeAre, 'update'])
  return options
}

/** As root, apt would step down to a user who may not write here; otherwise the system's locks are not ours to take. */
const asWeAre = ['-qq', '-o', 'APT::Sandbox::User=root', '-o', 'Debug::NoLocking=1']

/**
 * @param {string} flavour
 * @param {string} work
 * @param {string[]} lists
 */
function unpack(flavour, work, lists) {
  const [packages, root] = [join(work, 'packages'), join(work, 'root')]
  for (const folder of [packages, root]) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
  }
  run('apt-get', [...lists, ...asWeAre, 'download', ...missingPackages(flavour, lists)], packages)
  for (const file of readdirSync(packages)) run('dpkg', ['-x', join(packages, file), root])
  return root
}

/**
 * The server and every library of it that this system lacks. The server's program is in the package of the tools.
 * @param {string} flavour
 * @param {string[]} lists
 */
function missingPackages(flavour, lists) {
  const server = `${flavour}-server`
  const install = ['install', '--print-uris', '--yes', '--no-install-recommends', server]
  const uris = run('apt-get', [...lists, ...asWeAre, ...install])
  const names = [...uris.matchAll(/^'\S+' ([^_\s]+)_\S+\.deb/gm)].map((match) => match[1])
  return [...new Set([...names, server, `${flavour}-tools`])]
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} [cwd]
 */
function run(command, args, cwd) {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

/**
 * @template T
 * @param {() => T} action
 */
function attempt(action) {
  try {
    return action()
  } catch {
    return undefined
  }
}
