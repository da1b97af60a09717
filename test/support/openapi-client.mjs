import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fetchUnlessFound, unpackedDir } from './debian-program.mjs'

/*
 * openapi-typescript and openapi-fetch for the test of a generated client. Run as a program, before the tests, it installs them by
 * the lock file in openapi-client/, in a folder of their own: they need another TypeScript than the project.
 */
const dir = unpackedDir('openapi-client')
const wanted = fileURLToPath(new URL('openapi-client', import.meta.url))

/** The node_modules with the packages, as the lock file has them. */
export function findOpenApiClient() {
  const modules = join(dir, 'node_modules')
  // npm writes the second file last.
  const files = [join(dir, 'package-lock.json'), join(modules, '.package-lock.json')]
  if (!files.every((file) => existsSync(file))) return undefined
  const [installed, locked] = [files[0], join(wanted, 'package-lock.json')].map((file) => readFileSync(file, 'utf8'))
  return installed === locked ? modules : undefined
}

async function install() {
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  cpSync(wanted, dir, { recursive: true })
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  spawnSync('npm', ['ci', ...options], { cwd: dir, stdio: ['ignore', 2, 2] })
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await fetchUnlessFound({
    find: findOpenApiClient,
    fetch: install,
    what: 'openapi-typescript for the test of a generated client',
    skipped: 'The test of a generated client is skipped: npm cannot install openapi-typescript.',
    canFetch: true,
  })
