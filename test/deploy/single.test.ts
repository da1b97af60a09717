import { afterAll, beforeAll, expect, it } from 'vitest'
import { documentedCommands } from './documented.ts'
import { json, podman, shell } from './engine.ts'
import { COPY } from './place.mjs'
import { checkHealth, endAll, prepareSite } from './site.ts'

/* docker/compose.yaml by the commands of docker/README.md, in a network namespace of its own. */

const [up, list, token, status, ready] = documentedCommands('## With docker compose')
const end = new AbortController()
let health: Promise<void> | undefined
beforeAll(prepareSite)
afterAll(async () => {
  end.abort()
  await health
  await endAll()
})

it('the documented commands build the image, which becomes healthy', async () => {
  await shell(up, COPY)
  health = checkHealth(end.signal)
  await expect.poll(() => shell(list, COPY), { timeout: 120_000, interval: 1000 }).toContain('(healthy)')
})

it('the image has at most 200 MB, and lists its contents', async () => {
  const [{ Size, Config }] = await json<{ Size: number; Config: { Labels: object } }[]>('image', 'inspect', 'waybridge')
  expect(Size).toBeLessThan(200_000_000)
  expect(Config.Labels).toMatchObject({ 'org.opencontainers.image.title': 'waybridge' })
  const bill = JSON.parse(await inImage('cat', 'dist/sbom.cdx.json')) as { components: Component[] }
  const listed = bill.components.filter(({ purl }) => purl?.startsWith('pkg:deb/')).map(({ name }) => name)
  expect(listed).toEqual((await inImage('ls', '/var/lib/dpkg/status.d')).trim().split('\n'))
  expect(listed).toEqual(expect.arrayContaining(['libc6', 'redis-server', 'tar']))
  expect((await inImage('ls', '/usr/local/bin')).trim()).toBe('node')
})

it('the image runs as any user of group 0, and makes a backup', async () => {
  const name = 'waybridge-any-user'
  const options = ['--network=none', '--user=12345:0', '--read-only', '--tmpfs=/tmp', '--cap-drop=all']
  await podman('run', '--detach', '--name', name, ...options, 'waybridge')
  const inside = (...command: string[]) => podman('exec', name, ...command)
  const isReady = () => inside('node', 'docker/health.mjs', '.data').catch(() => '')
  await expect.poll(isReady, { timeout: 60_000, interval: 500 }).toContain('"ok":true')
  expect(await inside('node', 'src/cli/waybridge.mjs', 'backup', '.data/backup.tgz')).toContain('.data/backup.tgz')
  await podman('stop', '--time', '15', name)
  const [{ State }] = await json<{ State: { ExitCode: number } }[]>('inspect', name)
  expect(State.ExitCode).toBe(0)
})

it('the documented commands show the token and the state, and the admin port is ready on this machine', async () => {
  expect(await shell(token, COPY)).toMatch(/^[\w-]{20,}\s*$/)
  await expect.poll(() => shell(status, COPY)).toContain('All well')
  expect(await shell(ready, COPY)).toContain('"ok":true')
})

/** Runs a command in a container of the image; returns its output. */
function inImage(command: string, ...args: string[]): Promise<string> {
  return podman('run', '--rm', '--network=none', '--entrypoint', command, 'waybridge', ...args)
}

interface Component {
  readonly name: string
  readonly purl?: string
}
