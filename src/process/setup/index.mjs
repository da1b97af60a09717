import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPage, isPageBuilt } from '../../page/build/index.mjs'
import { withLock } from './lock.mjs'
import { isPinnedNode } from './pinned-node.mjs'
import { canFetchRedis, fetchRedis, findRedisServer, missingRedis, namesOwnRedis, newerRedis } from './redis-server.mjs'

/*
 * Runs before every npm script and sets up what is missing: the npm packages, the page and a Redis server. If nothing is missing,
 * it does nothing. It runs on the user's Node, 20 or later, and uses no package. The product itself runs on the npm package
 * `node` (24), which this installs. All output goes to stderr: stdout belongs to the command.
 */
const root = fileURLToPath(new URL('../../../', import.meta.url))
const modules = join(root, 'node_modules')
const tether = fileURLToPath(new URL('../tether.sh', import.meta.url))

if (!isComplete()) await withLock(setUp)
else await lookForNewerRedis()

/**
 * Looks for a newer Redis in the system's packages. Only `npm run setup` installs it; any other command only reports
 * it.
 */
async function lookForNewerRedis() {
  const replaces = process.env.npm_lifecycle_event === 'setup'
  const version = newerRedis({ now: replaces })
  if (version === undefined) return
  if (!replaces) return say(`The system's packages have another Redis, ${version}: \`npm run setup\` downloads it.`)
  say(`Downloading Redis ${version} …`)
  await withLock(async () => void (await fetchRedis()))
}

function isComplete() {
  return hasPackages() && isPageBuilt() && !lacksRedis()
}

async function setUp() {
  if (!hasPackages()) {
    say('Installing npm packages …')
    const isInstalled = await installPackages()
    if (!isPinnedNode(root))
      fail('The Node that npm downloaded is not the one of package.json (nodeIntegrity): do not use it.')
    if (!isInstalled) fail('npm could not install the packages: correct what it reports above.')
  }
  if (!isPageBuilt()) {
    say('Building the page …')
    await buildPage().catch((error) => fail(error.message))
  }
  if (!lacksRedis()) return
  if (canFetchRedis()) {
    say('Downloading a Redis server …')
    if (await fetchRedis()) return
  }
  if (!mayUseOwnRedis()) fail(missingRedis())
}

function lacksRedis() {
  const file = join(root, 'config/gateway.yaml')
  const hasOwn = mayUseOwnRedis() && existsSync(file) && namesOwnRedis(readFileSync(file, 'utf8'))
  return !hasOwn && !findRedisServer()
}

/** These commands may use a Redis of the user's own, and report themselves if the private one is missing. */
function mayUseOwnRedis() {
  return ['prestart', 'prewaybridge'].includes(process.env.npm_lifecycle_event ?? '')
}

/**
 * Whether node_modules matches package-lock.json, and the Node in it runs. npm writes node_modules/.package-lock.json last;
 * it does not list packages for other systems.
 */
function hasPackages() {
  const [wanted, installed] = [lockedPackages('package-lock.json'), lockedPackages('node_modules/.package-lock.json')]
  const isSame = Object.entries(wanted).every(([path, { integrity, optional }]) => {
    const found = installed[path]
    return path === '' || (found ? found.integrity === integrity : optional)
  })
  return isSame && isPinnedNode(root) && runsPinnedNode()
}

/**
 * @param {string} file
 * @returns {Record<string, { integrity?: string, optional?: boolean }>}
 */
function lockedPackages(file) {
  const path = join(root, file)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {}
}

/** npm puts node_modules/.bin first on PATH, so usually that Node runs this process. */
function runsPinnedNode() {
  const [node, manifest] = [join(modules, '.bin/node'), join(modules, 'node/package.json')]
  if (!existsSync(node) || !existsSync(manifest)) return false
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
  if (process.versions.node === version) return true
  return spawnSync(node, ['--version'], { encoding: 'utf8', timeout: 10_000 }).stdout?.trim() === `v${version}`
}

/** Installs by the lock file, whatever the user's npm settings are; returns whether that worked. */
async function installPackages() {
  const always = [
    '--ignore-scripts=false',
    '--include=dev',
    '--include=optional',
    '--global=false',
    '--dry-run=false',
    '--engine-strict=false',
  ]
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--update-notifier=false']
  const command = [tether, 'npm', 'ci', ...always, ...quiet]
  const npm = spawn('/bin/sh', command, { cwd: root, env: npmEnvironment(), stdio: ['pipe', 2, 2] })
  const [code] = await once(npm, 'exit')
  return code === 0 && hasPackages()
}

/**
 * The environment for npm: without the Node that npm is about to replace, and with a cache that this user may write to.
 */
function npmEnvironment() {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.startsWith(modules))
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, PATH: path.join(delimiter) }
  delete env.npm_config_allow_scripts
  const cache = env.npm_config_cache ?? join(homedir(), '.npm')
  try {
    accessSync(existsSync(cache) ? cache : dirname(cache), constants.W_OK)
  } catch {
    env.npm_config_cache = join(tmpdir(), `npm-cache-${process.getuid?.()}`)
  }
  return env
}

/** @param {string} sentence */
function say(sentence) {
  process.stderr.write(`${sentence}\n`)
}

/** @param {string} sentence */
function fail(sentence) {
  say(sentence)
  process.exit(1)
}
