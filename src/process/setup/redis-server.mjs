import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const OLDEST = [6, 2]
const NAMES = ['redis-server', 'valkey-server']

/** Where set-up unpacks a Redis server of the system's packages. */
export const fetchedDir = fileURLToPath(new URL('../../../node_modules/.cache/waybridge/redis', import.meta.url))

/**
 * A program and the environment that it needs on top of the process' own.
 * @typedef {{ command: string, env: Record<string, string> }} RedisServer
 */

/**
 * A Redis or Valkey server of 6.2 or later: WAYBRIDGE_REDIS_SERVER alone where that is set, else the one on PATH, else the
 * one that set-up fetched; undefined where there is none.
 * @returns {RedisServer | undefined}
 */
export function findRedisServer() {
  const chosen = process.env.WAYBRIDGE_REDIS_SERVER
  const candidates = chosen ? [{ command: chosen, env: {} }] : [...installed(), ...fetched()]
  return candidates.find(isRecent)
}

/** What a user is told where there is none: one sentence on what to install or to change. */
export function missingRedis() {
  const chosen = process.env.WAYBRIDGE_REDIS_SERVER
  if (chosen)
    return `WAYBRIDGE_REDIS_SERVER names ${chosen}, which is no redis-server or valkey-server ${OLDEST.join('.')} or later.`
  return (
    `waybridge needs redis-server or valkey-server ${OLDEST.join('.')} or later: install one, name it in ` +
    'WAYBRIDGE_REDIS_SERVER, or set redis.url in config/gateway.yaml.'
  )
}

function installed() {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).map((command) => ({ command, env: {} }))
}

function fetched() {
  if (!existsSync(fetchedDir)) return []
  const folders = [...libraryFolders(fetchedDir), process.env.LD_LIBRARY_PATH].filter(Boolean)
  const env = { LD_LIBRARY_PATH: folders.join(delimiter) }
  return NAMES.map((name) => ({ command: join(fetchedDir, 'usr/bin', name), env }))
}

/**
 * Each folder below `root` that holds a shared library: the name carries the architecture.
 * @param {string} root
 */
function libraryFolders(root) {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /\.so(\.\d+)*$/.test(file))
  return [...new Set(files.map((file) => dirname(join(root, file))))]
}

/** @param {RedisServer} server */
function isRecent({ command, env }) {
  if (!statSync(command, { throwIfNoEntry: false })?.isFile()) return false
  const [major, minor] = version(command, env)
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
}

/**
 * @param {string} command
 * @param {Record<string, string>} env
 * @returns {number[]}
 */
function version(command, env) {
  try {
    const text = execFileSync(command, ['--version'], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return (/v=(\d+)\.(\d+)/.exec(text) ?? [0, 0, 0]).slice(1).map(Number)
  } catch {
    return [0, 0]
  }
}
