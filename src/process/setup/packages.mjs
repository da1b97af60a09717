import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const modules = join(root, 'node_modules')
const tether = fileURLToPath(new URL('../tether.sh', import.meta.url))

/** Whether node_modules is what package-lock.json says, and the pinned Node in it runs. */
export function hasPackages() {
  return matchesLock() && runsPinnedNode()
}

/**
 * Installs by the lock file, whatever npm this is and however npm runs us; answers whether it worked. npm's words go to
 * stderr.
 */
export async function installPackages() {
  const always = ['--ignore-scripts=false', '--include=dev', '--include=optional', '--global=false', '--dry-run=false']
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--update-notifier=false']
  const command = [tether, 'npm', 'ci', ...always, ...quiet]
  const npm = spawn('/bin/sh', command, { cwd: root, env: npmEnvironment(), stdio: ['pipe', 2, 2] })
  const [code] = await once(npm, 'exit')
  return code === 0 && hasPackages()
}

/** npm writes what it installed to a lock file of its own, last of all. Packages for other systems are not in that one. */
function matchesLock() {
  const [wanted, installed] = [lockedPackages('package-lock.json'), lockedPackages('node_modules/.package-lock.json')]
  if (!wanted || !installed) return false
  return Object.entries(wanted).every(([path, { integrity, optional }]) => {
    const there = installed[path]
    return path === '' || (there ? there.integrity === integrity : optional)
  })
}

/**
 * @param {string} file
 * @returns {Record<string, { integrity?: string, optional?: boolean }> | undefined}
 */
function lockedPackages(file) {
  const path = join(root, file)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : undefined
}

/** npm puts node_modules/.bin first on PATH, so that mostly it is this process. */
function runsPinnedNode() {
  const [node, manifest] = [join(modules, '.bin/node'), join(modules, 'node/package.json')]
  if (!existsSync(node) || !existsSync(manifest)) return false
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
  if (process.versions.node === version) return true
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim() === `v${version}`
}

/** Without the Node that npm is about to replace, and with a cache that we may write to. */
function npmEnvironment() {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.startsWith(modules))
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, PATH: path.join(delimiter) }
  delete env.npm_config_allow_scripts
  if (!canWrite(env.npm_config_cache ?? join(homedir(), '.npm'))) {
    env.npm_config_cache = join(tmpdir(), `npm-cache-${process.getuid?.()}`)
  }
  return env
}

/** @param {string} folder */
function canWrite(folder) {
  try {
    accessSync(existsSync(folder) ? folder : join(folder, '..'), constants.W_OK)
    return true
  } catch {
    return false
  }
}
