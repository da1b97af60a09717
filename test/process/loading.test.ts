import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { protocolPorts } from '../../protocols/index.ts'
import { CLI } from '../support/processes.ts'
import { ROOT } from '../support/structure/sources.ts'

/** Returns the protocols that a process has loaded after running some code. */
async function loadedBy(code: string): Promise<string[]> {
  const names = (await filesLoadedBy(code)).flatMap((url) => /\/protocols\/(\w+)\/index\.ts$/.exec(url)?.[1] ?? [])
  return names.filter((name) => name !== 'kit')
}

/** Returns the npm packages that a process has loaded. */
async function packagesLoadedBy(file: string): Promise<Set<string | undefined>> {
  const urls = await filesLoadedBy(`await import('${ROOT}src/process/${file}')`)
  return new Set(urls.map((url) => /\/node_modules\/([^/]+)/.exec(url)?.[1]))
}

async function filesLoadedBy(code: string): Promise<readonly string[]> {
  const watching = `
    import { registerHooks } from 'node:module'
    const urls = []
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
    ${code}
    console.log(JSON.stringify(urls))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', watching], { cwd: ROOT })
  return JSON.parse(stdout) as readonly string[]
}

it('the names and ports of protocols, and the configuration, load no protocol', async () => {
  expect(protocolPorts.length).toBeGreaterThan(6)
  expect(
    await loadedBy(`await import('${ROOT}protocols/index.ts'); await import('${ROOT}src/config/files.ts')`),
  ).toEqual([])
})

it('a gateway, a worker and the admin process start without any protocol', async () => {
  const roles = ['gateway', 'worker', 'admin', 'tracking'].map(
    (role) => `await import('${ROOT}src/process/roles/${role}.ts')`,
  )
  expect(await loadedBy(roles.join('\n'))).toEqual([])
})

it('a protocol is loaded when it is requested, and no other one', async () => {
  const asked = `const { loadProtocol } = await import('${ROOT}protocols/index.ts'); await loadProtocol('gt06')`
  expect(await loadedBy(asked)).toEqual(['gt06'])
})

it('devices do not wait for code that only the page, the tracking API or metrics need', async () => {
  const supervisor = await packagesLoadedBy('start.ts')
  for (const name of ['prom-client', 'ioredis', 'fastify', 'undici']) expect(supervisor).not.toContain(name)
  // The gateway starts after the admin process has compared the files.
  const admin = await packagesLoadedBy('roles/admin.ts')
  expect(admin).toContain('ioredis')
  for (const name of ['fastify', 'undici', 'nodemailer']) expect(admin).not.toContain(name)
})

it('compiled code is kept in a folder that only the user can read', async () => {
  const home = await mkdtemp(join(tmpdir(), 'waybridge-home-'))
  onTestFinished(() => rm(home, { recursive: true }))
  const { NODE_COMPILE_CACHE: _, ...env } = process.env
  await promisify(execFile)(process.execPath, [CLI, '--version'], { env: { ...env, HOME: home } })
  const folder = join(home, '.cache/waybridge')
  const [ofThisNode] = await readdir(folder)
  // The first TypeScript file is the command line, with its imports.
  expect((await readdir(join(folder, ofThisNode))).length).toBeGreaterThan(10)
  expect((await stat(folder)).mode & 0o022).toBe(0)
})
