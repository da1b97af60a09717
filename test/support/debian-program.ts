import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** A program of Debian, and the variables that it needs in addition to the process' environment. */
export interface Program {
  readonly command: string
  readonly env: Record<string, string>
}

const run = promisify(execFile)
const cache = fileURLToPath(new URL('../../node_modules/.cache/waybridge', import.meta.url))

/**
 * A server program whose package has its name: the one on PATH, else that of the system's packages, unpacked without installing it;
 * undefined where there is none.
 */
export async function findProgram(name: string): Promise<Program | undefined> {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const installed = [...folders, '/usr/sbin'].map((folder) => join(folder, name)).find((file) => existsSync(file))
  if (installed) return { command: installed, env: {} }
  const fetched = join(cache, name)
  if (!existsSync(fetched) && folders.some((folder) => existsSync(join(folder, 'apt-get'))))
    await fetch(name, fetched).catch(() => {})
  return existsSync(fetched) ? unpacked(name, fetched) : undefined
}

async function unpacked(name: string, fetched: string): Promise<Program> {
  const files = await readdir(fetched, { recursive: true })
  const libraries = new Set(
    files.filter((file) => /\.so(\.\d+)*$/.test(file)).map((file) => join(fetched, dirname(file))),
  )
  return { command: join(fetched, 'usr/sbin', name), env: { LD_LIBRARY_PATH: [...libraries].join(delimiter) } }
}

/** Downloads Debian's package, and those of the libraries that this system lacks. */
async function fetch(name: string, fetched: string): Promise<void> {
  const work = `${fetched}.new`
  const [packages, tree, lists] = ['packages', 'tree', 'lists'].map((folder) => join(work, folder))
  await rm(work, { recursive: true, force: true })
  for (const folder of [packages, tree, join(lists, 'partial')]) await mkdir(folder, { recursive: true })
  const quiet = ['-qq', '-o', 'APT::Sandbox::User=root', '-o', 'Debug::NoLocking=1']
  const own = [...quiet, '-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${work}`]
  for (const apt of [quiet, own]) {
    try {
      if (apt === own) await run('apt-get', [...own, 'update'])
      const wanted = ['install', '--print-uris', '--yes', '--no-install-recommends', name]
      const { stdout } = await run('apt-get', [...apt, ...wanted])
      const names = new Set(Array.from(stdout.matchAll(/^'\S+' ([^_\s]+)_\S+\.deb/gm), ([, found]) => found))
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
