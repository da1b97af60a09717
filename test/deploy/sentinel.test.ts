import { afterAll, beforeAll, expect, it } from 'vitest'
import { documentedCommands } from './documented.ts'
import { COMPANY, devicesOf, drive, goesOn, SOON, SPEECHES } from './drive.ts'
import { json, podman, shell } from './engine.ts'
import { COPY } from './place.mjs'
import { checkHealth, edit, endAll, prepareSite } from './site.ts'

/* docker/compose.sentinel.yaml by the commands of docker/README.md, in a network namespace of its own. */

const FILE = 'docker/compose.sentinel.yaml'

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

it('the documented commands make all services of compose.sentinel.yaml healthy', async () => {
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

it('the site behind HAProxy continues when both gateways get new addresses, and loses nothing acknowledged', async () => {
  const load = drive(SPEECHES)
  await expect.poll(load.acked, SOON).toBeGreaterThan(50)
  for (const service of ['gateway-1', 'gateway-2']) {
    const before = await addressOf(service)
    await replace(service)
    expect(await addressOf(service)).not.toBe(before)
    await goesOn(load)
  }
  expect(await load.end()).toMatchObject({ lost: 0, missing: 0 })
}, 240_000)

it('the site continues by itself when the primary of Redis crashes, and loses nothing acknowledged', async () => {
  const load = drive(SPEECHES)
  await expect.poll(load.acked, SOON).toBeGreaterThan(50)
  const [{ State }] = await json<{ State: { Pid: number } }[]>('inspect', await nameOf(await primary()))
  process.kill(State.Pid, 'SIGKILL')
  expect(await goesOn(load)).toBeLessThan(30)
  expect(await load.end()).toMatchObject({ lost: 0, missing: 0 })
}, 240_000)

it('the site acknowledges nothing between two primaries of Redis, and loses nothing acknowledged', async () => {
  const load = drive(SPEECHES)
  await expect.poll(load.acked, SOON).toBeGreaterThan(50)
  const before = await primary()
  await podman('kill', await nameOf(before))
  await expect.poll(primary, SOON).not.toBe(before)
  // Earlier answers of Redis may still be in transit.
  await expect.poll(() => steadyFor(load.acked, 3000), SOON).toBe(true)
  await podman('start', await nameOf(before))
  await goesOn(load)
  expect(await replicas()).toContain(before)
  expect(await load.end()).toMatchObject({ lost: 0, missing: 0 })
}, 240_000)

it('a primary that lost its volume becomes a replica by the documented commands, and nothing acknowledged is lost', async () => {
  const load = drive(SPEECHES)
  await expect.poll(load.acked, SOON).toBeGreaterThan(50)
  const lost = await primary()
  await podman('kill', await nameOf(lost))
  for (const command of documentedCommands('### A Redis that lost its disk'))
    await shell(command.replaceAll('redis-1', lost), COPY)
  await goesOn(load)
  expect(await replicas()).toContain(lost)
  expect(await load.end()).toMatchObject({ lost: 0, missing: 0 })
}, 240_000)

/** Returns the service of the primary that a Sentinel names. */
async function primary(): Promise<string> {
  const [address] = await askSentinel('get-master-addr-by-name waybridge')
  return serviceOf(address)
}

/** Returns the services of the connected replicas that a Sentinel names. */
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
  edit('docker/several/gateway.yaml', (text) => text.replace('companies: []', COMPANY))
  edit('docker/several/devices.yaml', () => devicesOf(SPEECHES))
  edit(FILE, (text) => text.replace(/\n {2}grafana:\n[\s\S]*?(?=\n\S)/, '\n').replace('\n  grafana:', ''))
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
