import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { Ended } from './cli.ts'
import { ROOT } from './structure/sources.ts'

const run = promisify(execFile)

/** The product as a user has it who has installed the file that `npm pack` makes. */
export interface Installation {
  /** The names of the files in the package, without those of the npm packages in it. */
  readonly files: readonly string[]
  /** Of the packed file, in bytes. */
  readonly size: number
  /** The folder of the installed package. */
  readonly folder: string
  /** An empty folder, in which the commands run. */
  readonly home: string
  /** Runs a command to its end. */
  waybridge(...args: string[]): Promise<Ended>
  /** Starts a command; without its end. */
  begin(...args: string[]): ChildProcess
  remove(): Promise<void>
}

/**
 * Packs this clone, and installs the file with a prefix of its own, without a registry. The commands see a PATH without the clone: the Node that runs
 * this, copied, and the system's programs.
 */
export async function install(): Promise<Installation> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-installed-'))
  const [prefix, home, bin] = ['prefix', 'home', 'node'].map((name) => join(dir, name))
  for (const folder of [prefix, home, bin]) await mkdir(folder)
  await copyFile(process.execPath, join(bin, 'node'), constants.COPYFILE_FICLONE)
  const env = { ...ownEnvironment(), HOME: home, PATH: [join(prefix, 'bin'), bin, '/usr/bin', '/bin'].join(delimiter) }
  const packed = await npm('pack', '--json', '--pack-destination', dir)
  const [{ filename, files, size }] = JSON.parse(packed.slice(packed.indexOf('[\n'))) as [Packed]
  await npm('install', '--global', '--prefix', prefix, '--offline', '--no-audit', join(dir, filename))
  const begin = (...args: string[]) => spawn('waybridge', args, { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] })
  return {
    files: files.map(({ path }) => path).filter((path) => !path.startsWith('node_modules/')),
    size,
    folder: join(prefix, 'lib/node_modules/waybridge'),
    home,
    begin,
    waybridge: (...args) => endOf(begin(...args)),
    remove: () => rm(dir, { recursive: true, force: true, maxRetries: 10 }),
  }
}

/** What listens where, once everything is ready. @throws Error with what the command said, where it ends before. */
export async function readyPorts(child: ChildProcess, dataDir: string): Promise<Record<string, number>> {
  let said = ''
  child.stderr!.on('data', (text) => (said += text))
  for (;;) {
    const text = await readFile(join(dataDir, 'ports.json'), 'utf8').catch(() => undefined)
    if (text !== undefined) return JSON.parse(text) as Record<string, number>
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${said}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

interface Packed {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

async function npm(...args: string[]): Promise<string> {
  const { stdout } = await run('npm', args, { cwd: ROOT, env: ownEnvironment(), maxBuffer: 1 << 26 })
  return stdout
}

/** Without what npm and vitest tell the programs that they run, but with the certificates that npm needs to download. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(npm_(?!config_(cache|registry|userconfig))|VITEST|NODE_(?!EXTRA_CA_CERTS))/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
}

async function endOf(child: ChildProcess): Promise<Ended> {
  const printed = { out: '', errors: '' }
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (printed.out += text))
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (printed.errors += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, ...printed }
}
