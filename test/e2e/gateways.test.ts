import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { DrivenProduct, VANS } from '../rig/driven-product.ts'
import { dial } from '../support/listen.ts'
import { pidsWith } from '../support/processes.ts'
import { startCommand } from '../support/simulate.ts'

const soon = { timeout: 60_000, interval: 20 }

interface Status {
  readonly processes: readonly { readonly role: string; readonly pid: number }[]
}

let product: DrivenProduct

beforeAll(async () => void (product = await DrivenProduct.begin('gateways: 2\n')))
afterAll(() => product?.remove())

const gateways = () => pidsWith(product.dir, 'gateway')

/** Returns the number of gateways that accept connections on the port of Teltonika, each with four sockets. */
async function listening(): Promise<number> {
  const port = product.ports['tcp/teltonika'].toString(16).toUpperCase()
  const sockets = (await readFile('/proc/net/tcp', 'utf8')).split('\n')
  return sockets.filter((socket) => socket.includes(`:${port} 00000000:0000 0A`)).length / 4
}

it('a start with two gateways loses nothing of 30 vans if one is killed and one gets a SIGTERM', async () => {
  const { arrive, made } = await product.drive()
  await made(3 * VANS)
  const [first, second] = gateways()
  process.kill(second, 'SIGKILL')
  await expect.poll(gateways, soon).not.toContain(second)
  await expect.poll(listening, soon).toBe(2)
  await made(6 * VANS)
  process.kill(first, 'SIGTERM')
  await made(9 * VANS)
  await arrive()
})

it('a start with two gateways shows all gateways in the status', async () => {
  await expect.poll(listening, soon).toBe(2)
  await expect.poll(notInBoth, soon).toEqual([])
})

/** Returns the gateways that either run or are in the status, but not both. */
async function notInBoth(): Promise<number[]> {
  const { processes } = await product.admin<Status>('/admin/status')
  const shown = new Set(processes.flatMap(({ role, pid }) => (role === 'gateway' ? [pid] : [])))
  return [...shown.symmetricDifference(new Set(gateways()))]
}

it('a start with two gateways refuses no connection while one gateway restarts', async () => {
  await expect.poll(listening, soon).toBe(2)
  const [first] = gateways()
  process.kill(first, 'SIGTERM')
  for (let isGone = false, isBack = false; !isBack; isBack = isGone && (await listening()) === 2) {
    isGone ||= !gateways().includes(first)
    const error = await dial(product.ports['tcp/teltonika']).then(({ socket }) => void socket.destroy(), String)
    // The ending gateway resets connections that it has not accepted yet.
    if (error) expect(error).toContain('ECONNRESET')
  }
})

it('a start with two gateways adds up their metrics in one answer', async () => {
  const vans = await Promise.all(Array.from({ length: 20 }, () => dial(product.ports['tcp/teltonika'])))
  await expect.poll(connections, soon).toBeGreaterThanOrEqual(vans.length)
})

it('a second start on the ports of the first one ends with an error', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-second-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const yaml = await readFile(join(product.dir, 'gateway.yaml'), 'utf8')
  const others = yaml.replace(product.dir, dir).replaceAll(/^(tracking|admin): .*\n/gm, '')
  const free = 'tracking: { listen: { host: 127.0.0.1, port: 0 } }\nadmin: { port: 0 }\n'
  await writeFile(join(dir, 'gateway.yaml'), others + free)
  const second = startCommand(['start', '--config', dir])
  expect(await second.ended).toBe(1)
  const address = `127.0.0.1:${product.ports['tcp/teltonika']}`
  expect(second.errors()).toContain(`Cannot listen on ${address}: another program has this port; end it or choose`)
})

async function connections(): Promise<number> {
  const token = (await readFile(join(product.dir, 'data', 'admin-token'), 'utf8')).trim()
  const answer = await fetch(`http://127.0.0.1:${product.ports.admin}/metrics`, {
    headers: { authorization: `Bearer ${token}` },
  })
  return Number(/^waybridge_connections\{transport="tcp"\} (\d+)/m.exec(await answer.text())?.[1] ?? 0)
}
