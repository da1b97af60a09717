import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createFleet, devicesYaml } from '../../src/sandbox/fleet.ts'
import { speechesOption } from '../../src/sandbox/options.ts'
import { documentedCommands } from './documented.ts'
import { json, podman, shell, start } from './engine.ts'
import { COPY, ROOT } from './place.mjs'
import { checkHealth, edit, endAll, prepareSite } from './site.ts'

/* docker/compose.sentinel.yaml by the commands of docker/README.md, in a network namespace of its own. */

const VANS = 12
/** Each answers a fix once it is stored; the file publishes their ports. */
const SPEECHES = 'teltonika-8e,gt06,osmand,fix'
const OAUTH = 'deploy-oauth-token'
const FILE = 'docker/compose.sentinel.yaml'
const SOON = { timeout: 90_000, interval: 500 }

const commands = documentedCommands('## Several processes behind HAProxy')
const end = new AbortController()
let health: Promise<void> | undefined
beforeAll(async () => {
  await prepareSite()
  prepareConfig()
})
afterAll(async () => {
  end.abort()
  await health
  await endAll()
})

it('by the documented commands all services of compose.sentinel.yaml become healthy', async () => {
  for (const command of commands.slice(0, 2)) await shell(command, COPY)
  health = checkHealth(end.signal)
  const [, , list, token] = commands
  const healthy = new Set<string>()
  const look = async () => {
    for (const line of (await shell(list, COPY)).split('\n'))
      if (line.includes('(healthy)')) healthy.add(line.split(' ').at(-1)!)
    return healthy.size
  }
  await expect.poll(look, SOON).toBe(13)
  expect(await shell(token, COPY)).toMatch(/^ADMIN_TOKEN=[0-9a-f]{48}$/m)
}, 400_000)

it('the site behind HAProxy goes on when both gateways are replaced by ones with other addresses, and loses nothing acknowledged', async () => {
  const load = drive()
  await expect.poll(load.acked, SOON).toBeGreaterThan(50)
  for (const service of ['gateway-1', 'gateway-2']) {
    const before = await addressOf(service)
    await replace(service)
    expect(await addressOf(service)).not.toBe(before)
    const acked = load.acked()
    await expect.poll(load.acked, SOON).toBeGreaterThan(acked + 2 * VANS)
  }
  expect(await load.end()).toMatchObject({ lost: 0, missing: 0 })
}, 240_000)

it('the site goes on by itself when the primary of Redis crashes, and loses nothing acknowledged', async () => {
  const load = drive()
  await expect.poll(load.acked, SOON).toBeGreaterThan(50)
  const [{ State }] = await json<{ State: { Pid: number } }[]>('inspect', await nameOf(await primary()))
  process.kill(State.Pid, 'SIGKILL')
  await goesOn(load)
  expect(await load.end()).toMatchObject({ lost: 0, missing: 0 })
}, 240_000)

it('the site goes on with another primary once a lost one is back, acknowledges nothing until then, and loses nothing acknowledged', async () => {
  const load = drive()
  await expect.poll(load.acked, SOON).toBeGreaterThan(50)
  const before = await primary()
  await podman('kill', await nameOf(before))
  await expect.poll(primary, SOON).not.toBe(before)
  // Answers that left Redis before may still be on their way.
  await expect.poll(() => steadyFor(load.acked, 3000), SOON).toBe(true)
  await podman('start', await nameOf(before))
  await goesOn(load)
  expect(await replicas()).toContain(before)
  expect(await load.end()).toMatchObject({ lost: 0, missing: 0 })
}, 240_000)

it('a primary that lost its volume is a replica again by the documented commands, and nothing acknowledged is lost', async () => {
  const load = drive()
  await expect.poll(load.acked, SOON).toBeGreaterThan(50)
  const lost = await primary()
  await podman('kill', await nameOf(lost))
  for (const command of documentedCommands('### A Redis that lost its disk'))
    await shell(command.replaceAll('redis-1', lost), COPY)
  await goesOn(load)
  expect(await replicas()).toContain(lost)
  expect(await load.end()).toMatchObject({ lost: 0, missing: 0 })
}, 240_000)

/** Resolves once each van has had two more fixes acknowledged. */
async function goesOn(load: ReturnType<typeof drive>): Promise<void> {
  const acked = load.acked()
  await expect.poll(load.acked, SOON).toBeGreaterThan(acked + 2 * VANS)
}

/** The service of the primary that a Sentinel names. */
async function primary(): Promise<string> {
  const [address] = await askSentinel('get-master-addr-by-name waybridge')
  return serviceOf(address)
}

/** The services of the replicas that are connected to the primary, as a Sentinel says. */
async function replicas(): Promise<string[]> {
  const said = await askSentinel('replicas waybridge')
  const fields = said.flatMap((field, at) => (['ip', 'master-link-status'].includes(field) ? said[at + 1] : []))
  return fields.flatMap((address, at) => (fields[at + 1] === 'ok' ? serviceOf(address) : []))
}

async function askSentinel(question: string): Promise<string[]> {
  const command = `redis-cli -p 26379 sentinel ${question}`
  return (await podman('exec', await nameOf('sentinel-2'), 'sh', '-c', command)).split('\n')
}

/** Addresses of the servers end in 201, 202 and 203. */
function serviceOf(address: string): string {
  return `redis-${address.at(-1)}`
}

/** Puts a company and its vans into the files, as the document says. Grafana is left out: Debian has no package of it. */
function prepareConfig(): void {
  const company = `companies: [{ company_id: 1, apikey: deploy-apikey, oauth_token: ${OAUTH} }]`
  edit('docker/several/gateway.yaml', (text) => text.replace('companies: []', company))
  edit('docker/several/devices.yaml', () => devicesYaml(createFleet(VANS, speechesOption(SPEECHES))))
  edit(FILE, (text) => text.replace(/\n {2}grafana:\n[\s\S]*?(?=\n\S)/, '\n').replace('\n  grafana:', ''))
}

/** Lets vans send until `end`, which resolves to how it ended. */
function drive() {
  let last: Record<string, number> = {}
  const say = (line: string) => {
    last = Object.fromEntries(line.split(' ').map((part) => [part.split('=')[0], Number(part.split('=')[1])]))
  }
  const options = [`${VANS}`, SPEECHES, 'http://127.0.0.1:8090', OAUTH]
  const child = start(say, process.execPath, `${ROOT}/test/deploy/load.ts`, ...options)
  return {
    acked: () => last.acked ?? 0,
    async end() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
      return { ...last, missing: last.sent - last.acked }
    },
  }
}

/** Removes the container of a service, and upgrades the service as the document says. podman-compose itself replaces none for its image alone. */
async function replace(service: string): Promise<void> {
  await podman('rm', '--force', '--time', '15', await nameOf(service))
  await shell(`docker compose -f ${FILE} up --build --detach --no-deps ${service}`, COPY)
}

async function addressOf(service: string): Promise<string> {
  const [{ NetworkSettings }] = await json<{ NetworkSettings: { Networks: Record<string, { IPAddress: string }> } }[]>(
    'inspect',
    await nameOf(service),
  )
  return Object.values(NetworkSettings.Networks)[0].IPAddress
}

async function nameOf(service: string): Promise<string> {
  return (
    await podman('ps', '--all', '--filter', `label=com.docker.compose.service=${service}`, '--format', '{{.Names}}')
  ).trim()
}

/** Returns whether a number stays the same for so long. */
async function steadyFor(value: () => number, ms: number): Promise<boolean> {
  const before = value()
  await new Promise((resolve) => setTimeout(resolve, ms))
  return value() === before
}
