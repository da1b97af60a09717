import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasApt, libraryPath, unpackPackages, updatedLists } from './apt.mjs'

const OLDEST = [6, 2]
const DAY_MS = 86_400_000
const LOOK_MS = 500
const VERSION_MS = 5000
const SYNC_MS = 60_000
const NAMES = ['redis', 'valkey']
const searchPath = (process.env.PATH ?? '').split(delimiter).filter(Boolean)

/** The folder into which set-up unpacks a Redis server from the system's packages. */
const fetchedDir = fileURLToPath(new URL('../../../node_modules/.cache/waybridge/redis', import.meta.url))

/**
 * A program, and the variables that it needs in addition to the process' environment.
 * @typedef {{ command: string, env: Record<string, string> }} RedisServer
 */

/**
 * Finds a Redis or Valkey server, 6.2 or later: only WAYBRIDGE_REDIS_SERVER if that is set, else the one on PATH, else the
 * one that was downloaded into the folder `dir`. @returns {RedisServer | undefined}
 */
export function findRedisServer(dir = fetchedDir) {
  const chosen = process.env.WAYBRIDGE_REDIS_SERVER
  if (chosen) return [{ command: chosen, env: {} }].find(isRecent)
  const commands = NAMES.flatMap((name) => searchPath.map((folder) => join(folder, `${name}-server`)))
  return [...commands.map((command) => ({ command, env: {} })), ...fetched(dir)].find(isRecent)
}

/** Returns the error if there is none: one sentence with what to install or to change. */
export function missingRedis() {
  const chosen = process.env.WAYBRIDGE_REDIS_SERVER
  if (chosen)
    return (
      `WAYBRIDGE_REDIS_SERVER names ${chosen}, which is no redis-server or valkey-server ${OLDEST.join('.')} or later, ` +
      'or does not run: try it with --version.'
    )
  return (
    `waybridge needs redis-server or valkey-server ${OLDEST.join('.')} or later: install one, name it in ` +
    'WAYBRIDGE_REDIS_SERVER, or set redis.url in config/gateway.yaml.'
  )
}

/** Whether this system's packages can be unpacked here, and the user has not chosen a server. */
export function canFetchRedis() {
  return !process.env.WAYBRIDGE_REDIS_SERVER && hasApt()
}

/**
 * Downloads a Redis server from the system's packages (Debian, Ubuntu) without installing it and without root: apt
 * verifies it, dpkg unpacks it into `dir`. Returns whether there is a usable server now.
 */
export async function fetchRedis(dir = fetchedDir) {
  const work = `${dir}.new`
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work, { recursive: true })
  try {
    for (const flavour of NAMES) if (await fetchFlavour(flavour, dir, [])) return true
    // The system may have no package lists, or old ones.
    const lists = await updatedLists(work)
    for (const flavour of NAMES) if (await fetchFlavour(flavour, dir, lists)) return true
    return false
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/**
 * Returns the version of Redis in the system's packages, if it differs from the server that set-up downloaded and that is in
 * use. Checked once a day, or `now`, in the package lists that the system has, and only as current as these.
 */
export function newerRedis({ now = false } = {}) {
  const command = findRedisServer()?.command ?? ''
  const [looked, version] = [join(fetchedDir, 'looked'), join(fetchedDir, 'version')]
  const lookedAt = statSync(looked, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const isDue = now || Date.now() - lookedAt > DAY_MS
  if (!isDue || !command.startsWith(fetchedDir)) return undefined
  try {
    writeFileSync(looked, '')
  } catch {
    return undefined
  }
  const name = basename(command).replace('server', 'tools')
  const { stdout } = spawnSync('apt-cache', ['policy', name], { encoding: 'utf8', timeout: LOOK_MS })
  const candidate = /^ {2}Candidate: (\d\S*)/m.exec(stdout ?? '')?.[1]
  if (candidate === undefined) return undefined
  const isSame = existsSync(version)
    ? readFileSync(version, 'utf8') === candidate
    : versionOf({ command, env: libraryPath(fetchedDir) }) === candidate.replace(/^\d+:/, '').replace(/-[^-]*$/, '')
  return isSame ? undefined : candidate
}

/**
 * Whether the text of gateway.yaml names a Redis of the user's own. Reads it without a YAML parser, because packages may not
 * be installed yet; `start` parses the file later.
 * @param {string} text
 */
export function namesOwnRedis(text) {
  return OWN_REDIS.test(text)
}

/** @param {string} dir */
function fetched(dir) {
  if (!existsSync(dir)) return []
  const env = libraryPath(dir)
  return NAMES.map((name) => ({ command: join(dir, 'usr/bin', `${name}-server`), env }))
}

const OWN_REDIS =
  /^redis:(?:[ \t]*\{[^}\n]*|.*\n(?:[ \t#].*\n)*?[ \t]+)\b(?:url:[ \t]*(?!null\b|~)[^\s,}#]|(?:sentinels|cluster):(?![ \t]*\[[ \t]*\]))/m

/** @param {RedisServer} server */
function isRecent(server) {
  // Unlike stat, this does not throw if a folder of PATH is not readable.
  if (!existsSync(server.command)) return false
  const [major, minor] = versionOf(server).split('.').map(Number)
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
}

/** @param {RedisServer} server */
function versionOf({ command, env }) {
  const limits = { timeout: VERSION_MS, killSignal: /** @type {const} */ ('SIGKILL') }
  const { stdout } = spawnSync(command, ['--version'], { env: { ...process.env, ...env }, encoding: 'utf8', ...limits })
  return /v=(\d+\.\d+[.\d]*)/.exec(stdout ?? '')?.[1] ?? ''
}

/**
 * Unpacks the server's packages and the libraries that this system lacks. The program is in the package of the tools. @param
 * {string} flavour @param {string} dir @param {string[]} lists apt's options that name the package lists
 */
async function fetchFlavour(flavour, dir, lists) {
  const [packages, unpacked] = ['packages', 'unpacked'].map((name) => join(`${dir}.new`, name))
  try {
    await unpackPackages([`${flavour}-server`, `${flavour}-tools`], { packages, unpacked, lists })
    const tools = readdirSync(packages).find((file) => file.startsWith(`${flavour}-tools_`)) ?? ''
    writeFileSync(join(unpacked, 'version'), decodeURIComponent(tools.split('_')[1]))
  } catch {
    return false
  }
  rmSync(dir, { recursive: true, force: true })
  renameSync(unpacked, dir)
  // After a loss of power there may be no network to download it again.
  spawnSync('sync', ['--file-system', dir], { timeout: SYNC_MS })
  return findRedisServer(dir) !== undefined
}
