import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, createServer as createTcpServer, type Server } from 'node:net'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { findProgram, type Program } from '../support/debian-program.mjs'
import { startShippedHaproxy } from '../support/haproxy.ts'
import { type NameServer, startNameServer } from '../support/name-server.ts'

/* docker/haproxy.cfg in front of gateways whose names change their address. A gateway here is its readiness and its name on one port. */

/** Offset that is added to the shipped ports, which a real product may use. */
const SHIFT = 23_000
const HOST = '127.0.1.10'
const NAMES = ['gateway-1.test', 'gateway-2.test']
const SOON = { timeout: 30_000, interval: 100 }

let haproxy: Program | undefined
beforeEach(async ({ skip }) => {
  haproxy = await findProgram('haproxy')
  skip(!haproxy, 'there is no haproxy, and apt cannot fetch it')
})

it('HAProxy reaches the gateways after all of them got new addresses', async () => {
  const dns = await balance()
  const first = await startGateways(dns, ['127.0.1.11', '127.0.1.12'])
  await expect.poll(reached, SOON).toEqual(['127.0.1.11', '127.0.1.12'])
  for (const gateway of first) await gateway.end()
  await expect.poll(readiness, SOON).toBe(503)
  await startGateways(dns, ['127.0.1.13', '127.0.1.14'])
  await expect.poll(reached, SOON).toEqual(['127.0.1.13', '127.0.1.14'])
  expect(await readiness()).toBe(200)
}, 120_000)

it('HAProxy is not ready until its gateways have names', async () => {
  const dns = await balance()
  await expect.poll(readiness, SOON).toBe(503)
  expect(await reached()).toEqual([])
  await startGateways(dns, ['127.0.1.15', '127.0.1.16'])
  await expect.poll(reached, SOON).toEqual(['127.0.1.15', '127.0.1.16'])
  expect(await readiness()).toBe(200)
}, 120_000)

it('HAProxy keeps the last addresses while DNS is silent for longer than its default hold time', async () => {
  const dns = await balance()
  await startGateways(dns, ['127.0.1.17', '127.0.1.18'])
  await expect.poll(reached, SOON).toEqual(['127.0.1.17', '127.0.1.18'])
  dns.silent = true
  const until = performance.now() + 40_000
  while (performance.now() < until) {
    expect(await readiness()).toBe(200)
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
}, 120_000)

/** Runs HAProxy for the names; returns the name server that it uses. */
async function balance(): Promise<NameServer> {
  const dns = await startNameServer()
  const places = { BIND: HOST, GATEWAY_1: NAMES[0], GATEWAY_2: NAMES[1] }
  await startShippedHaproxy(haproxy!, { shift: SHIFT, places, nameserver: dns.port })
  return dns
}

/** Starts a gateway at each address, and assigns the names to the addresses. */
async function startGateways(dns: NameServer, addresses: readonly string[]) {
  const gateways = await Promise.all(addresses.map(startGateway))
  for (const [index, address] of addresses.entries()) dns.addresses.set(NAMES[index], address)
  return gateways
}

async function startGateway(address: string) {
  const monitor = createServer((_, response) => response.end())
  const devices = createTcpServer((socket) =>
    socket
      .on('error', () => {})
      .resume()
      .end(address),
  )
  const end = () => Promise.all([monitor, devices].map(closed))
  onTestFinished(async () => void (await end()))
  await Promise.all([
    once(monitor.listen(9464 + SHIFT, address), 'listening'),
    once(devices.listen(5000 + SHIFT, address), 'listening'),
  ])
  return { end }
}

async function closed(server: Server): Promise<void> {
  if (!server.listening) return
  server.close()
  await once(server, 'close')
}

/** Returns the gateways that a few connections reach. */
async function reached(): Promise<string[]> {
  const answers: string[] = []
  for (let count = 0; count < 4; count++) answers.push(await greeting())
  return [...new Set(answers.filter(Boolean))].toSorted()
}

/** Returns the address that the gateway of a connection sends; empty if it closes without one. */
async function greeting(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let said = ''
  const socket = connect(5000 + SHIFT, HOST).on('data', (bytes) => (said += bytes.toString()))
  socket.on('error', () => {}).on('close', () => resolve(said))
  return promise
}

async function readiness(): Promise<number> {
  const answer = await fetch(`http://${HOST}:${9464 + SHIFT}/readyz`).catch(() => undefined)
  return answer?.status ?? 0
}
