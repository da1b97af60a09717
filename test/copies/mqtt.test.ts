import { writeFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { Aedes } from 'aedes'
import { expect, it, onTestFinished, vi } from 'vitest'
import { observations } from '../../src/observe/observations.ts'
import { copyAccounts, enterCopies, type Store } from '../../src/store/index.ts'
import { CertificateMaker, type Issued } from '../support/certificates.ts'
import { copying, copyOf, storeCopied, VAN } from '../support/copies.ts'
import { freePorts } from '../support/free-ports.ts'
import { listening } from '../support/listening.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

let server: TestRedis
let redis: Store

withRedis((one, connection) => {
  server = one
  redis = connection
})

const failing = () => observations.current().flatMap(({ code, evidence }) => (code === 'copy_failing' ? evidence : []))
const account = async () => (await copyAccounts(redis, ['crm']))[0]

/** Starts a broker that records each publication before it acknowledges it. */
async function startBroker(tls?: Issued) {
  const published: { topic: string; qos: number; fix: { time: string; device: string } }[] = []
  const logins: (string | undefined)[] = []
  let accepts = true
  const broker = await Aedes.createBroker({
    authenticate(_client, username, password, done) {
      logins.push(`${username}:${password?.toString()}`)
      done(null, accepts)
    },
    authorizePublish(_client, { topic, payload, qos }, done) {
      published.push({ topic, qos, fix: JSON.parse(payload.toString()) })
      done(null)
    },
  })
  const sockets = new Set<Socket>()
  const handle = (socket: Socket) => {
    sockets.add(socket)
    broker.handle(socket)
  }
  const listener: Server = tls ? createTlsServer({ cert: tls.cert, key: tls.key }, handle) : createServer(handle)
  const [port] = await freePorts(1)
  await listening(listener, port)
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    listener.close()
    await new Promise<void>((resolve) => broker.close(() => resolve()))
  })
  return {
    port,
    published,
    logins,
    cut: () => sockets.forEach((socket) => socket.destroy()),
    accept(next: boolean) {
      accepts = next
    },
  }
}

it('an MQTT copy publishes each fix in order with QoS 1 under its topic', async () => {
  const broker = await startBroker()
  await enterCopies(redis, [{ copy: 'crm', log: '7' }])
  await storeCopied(redis, [1, 2, 3])
  await storeCopied(redis, [1], { device: 'a/+#b' })
  const to = `mqtt://user:p%40ss@127.0.0.1:${broker.port}`
  copying(server, [copyOf({ to, topic: 'fleet/{company_id}/{device}/{courier_id}/{route_id}' })])
  await vi.waitFor(async () => expect(await account()).toMatchObject({ delivered: 4, difference: 0 }), {
    timeout: 60_000,
  })
  expect(broker.logins).toEqual(['user:p@ss'])
  expect(broker.published.map(({ topic, qos }) => [topic, qos])).toEqual([
    ...[1, 2, 3].map(() => [`fleet/7/${VAN}/42/1001`, 1]),
    ['fleet/7/a___b/42/1001', 1],
  ])
  expect(broker.published.slice(0, 3).map(({ fix }) => Date.parse(fix.time) / 1000)).toEqual([1, 2, 3])
  expect(broker.published[3].fix.device).toBe('a/+#b')
})

it('an MQTT copy loses nothing if the broker cuts the connection or refuses the login for a while', async () => {
  const broker = await startBroker()
  broker.accept(false)
  await enterCopies(redis, [{ copy: 'crm', log: '7' }])
  copying(server, [copyOf({ to: `mqtt://u:p@127.0.0.1:${broker.port}` })])
  await storeCopied(redis, [1, 2])
  await vi.waitFor(() => expect(broker.logins.length).toBeGreaterThan(1), { timeout: 60_000 })
  expect(await account()).toMatchObject({ waiting: 2, delivered: 0 })
  broker.accept(true)
  await vi.waitFor(async () => expect(await account()).toMatchObject({ delivered: 2 }), { timeout: 60_000 })
  broker.cut()
  await storeCopied(redis, [3])
  await vi.waitFor(async () => expect(await account()).toMatchObject({ delivered: 3, difference: 0 }), {
    timeout: 60_000,
  })
})

it('an MQTT copy reports a TLS file that cannot be used, and continues when it can', async () => {
  const certificates = await CertificateMaker.create()
  onTestFinished(() => certificates.remove())
  const issued = await certificates.issue('broker', { cn: 'broker', san: 'IP:127.0.0.1' })
  const broker = await startBroker(issued)
  const ca = issued.files.cert
  await writeFile(ca, 'half of a certificate')
  await enterCopies(redis, [{ copy: 'crm', log: '7' }])
  copying(server, [copyOf({ to: `mqtts://127.0.0.1:${broker.port}`, tls: { ca } })])
  await storeCopied(redis, [1])
  await expect.poll(failing, { timeout: 20_000 }).toEqual([`tls.ca: ${ca} is no certificate in PEM`])
  await writeFile(ca, issued.cert)
  await vi.waitFor(async () => expect(await account()).toMatchObject({ delivered: 1, difference: 0 }), {
    timeout: 30_000,
  })
  await expect.poll(failing, { timeout: 20_000 }).toEqual([])
})
