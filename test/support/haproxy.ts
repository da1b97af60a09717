import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { temporaryDir } from './running.ts'

/** A HAProxy, and the variables that it needs in addition to the process' environment. */
export interface Haproxy {
  readonly command: string
  readonly env: Record<string, string>
}

const run = promisify(execFile)
const fetched = fileURLToPath(new URL('../../node_modules/.cache/waybridge/haproxy', import.meta.url))

/** The one on PATH, else the one of the system's packages, unpacked without installing it; undefined where there is none. */
export async function findHaproxy(): Promise<Haproxy | undefined> {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const installed = [...folders, '/usr/sbin'].map((folder) => join(folder, 'haproxy')).find((file) => existsSync(file))
  if (installed) return { command: installed, env: {} }
  if (!existsSync(fetched) && folders.some((folder) => existsSync(join(folder, 'apt-get'))))
    await fetch().catch(() => {})
  return existsSync(fetched) ? unpacked() : undefined
}

async function unpacked(): Promise<Haproxy> {
  const files = await readdir(fetched, { recursive: true })
  const libraries = new Set(
    files.filter((file) => /\.so(\.\d+)*$/.test(file)).map((file) => join(fetched, dirname(file))),
  )
  return { command: join(fetched, 'usr/sbin/haproxy'), env: { LD_LIBRARY_PATH: [...libraries].join(delimiter) } }
}

/** Downloads Debian's package, and those of the libraries that this system lacks. */
async function fetch(): Promise<void> {
  const work = `${fetched}.new`
  const [packages, tree, lists] = ['packages', 'tree', 'lists'].map((name) => join(work, name))
  await rm(work, { recursive: true, force: true })
  for (const folder of [packages, tree, join(lists, 'partial')]) await mkdir(folder, { recursive: true })
  const quiet = ['-qq', '-o', 'APT::Sandbox::User=root', '-o', 'Debug::NoLocking=1']
  const own = [...quiet, '-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${work}`]
  for (const apt of [quiet, own]) {
    try {
      if (apt === own) await run('apt-get', [...own, 'update'])
      const wanted = ['install', '--print-uris', '--yes', '--no-install-recommends', 'haproxy']
      const { stdout } = await run('apt-get', [...apt, ...wanted])
      const names = new Set(Array.from(stdout.matchAll(/^'\S+' ([^_\s]+)_\S+\.deb/gm), ([, name]) => name))
      await run('apt-get', [...apt, 'download', ...names], { cwd: packages })
      for (const file of await readdir(packages)) await run('dpkg', ['-x', join(packages, file), tree])
      await rename(tree, fetched)
      break
    } catch {
      // The system may have no package lists, or old ones: the second try has lists of its own.
    }
  }
  await rm(work, { recursive: true, force: true })
}

/** Runs HAProxy in front of ports of this machine until the test is over. Each line of `ways`: its port, and `server` options. */
export async function startHaproxy(
  { command, env }: Haproxy,
  ways: readonly { readonly port: number; readonly to: number; readonly options: string }[],
): Promise<void> {
  const dir = await temporaryDir()
  const file = join(dir, 'haproxy.cfg')
  const proxies = ways.map(
    ({ port, to, options }) =>
      `listen p${port}\n  bind 127.0.0.1:${port}\n  server gateway 127.0.0.1:${to} ${options}\n`,
  )
  const head =
    'global\n  maxconn 100\ndefaults\n  mode tcp\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s\n'
  await writeFile(file, head + proxies.join(''))
  const child = spawn(command, ['-db', '-f', file], { env: { ...process.env, ...env }, stdio: 'ignore' })
  onTestFinished(async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit')
  })
}
