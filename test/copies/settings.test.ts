import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { copyAccounts, enterCopies, retryCopy, type Store } from '../../src/store/index.ts'
import { CertificateMaker } from '../support/certificates.ts'
import { copying, copyOf, type Received, startCopyReceiver, storeCopied, VAN } from '../support/copies.ts'
import { freePorts } from '../support/free-ports.ts'
import { listening } from '../support/listening.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

const soon = { timeout: 60_000 }
const OTHER = '356307042441014'

let server: TestRedis
let redis: Store

withRedis((one, connection) => {
  server = one
  redis = connection
})

const account = async () => (await copyAccounts(redis, ['crm']))[0]
const enter = (...logs: string[]) =>
  enterCopies(
    redis,
    logs.map((log) => ({ copy: 'crm', log })),
  )
const until = (expected: object) => vi.waitFor(async () => expect(await account()).toMatchObject(expected), soon)

const devicesIn = (requests: readonly Received[]) => [
  ...new Set(requests.flatMap(({ fixes }) => fixes.map(({ device }) => device))),
]

it('a waiting fix is discarded for a copy that no longer gets its company', async () => {
  const receiver = await startCopyReceiver(() => 503)
  const copy = copyOf({ to: receiver.url, companies: ['7', '8'] })
  const { configure } = copying(server, [copy], { companies: ['7', '8'] })
  await enter('7', '8')
  await storeCopied(redis, [1, 2])
  await storeCopied(redis, [3], { device: OTHER, lane: '8/1/1' })
  await vi.waitFor(() => expect(receiver.seen.length).toBeGreaterThan(3), soon)
  configure([{ ...copy, companies: ['7'] }])
  await vi.waitFor(() => expect(devicesIn(receiver.seen.slice(-8))).toEqual([VAN]), soon)
  receiver.answer(() => 200)
  await until({ waiting: 0, delivered: 2, discarded: 1, difference: 0 })
  expect(receiver.timesOf(OTHER)).toEqual([])
})

it('a waiting fix is discarded for a copy if its company is no longer configured', async () => {
  const receiver = await startCopyReceiver(() => 503)
  const copy = copyOf({ to: receiver.url })
  const { configure } = copying(server, [copy], { companies: ['7', '8'] })
  await enter('7', '8')
  await storeCopied(redis, [1, 2])
  await storeCopied(redis, [3], { device: OTHER, lane: '8/1/1' })
  await vi.waitFor(() => expect(receiver.seen.length).toBeGreaterThan(3), soon)
  configure([copy], ['7'])
  await vi.waitFor(() => expect(devicesIn(receiver.seen.slice(-8))).toEqual([VAN]), soon)
  receiver.answer(() => 200)
  await until({ waiting: 0, delivered: 2, discarded: 1, difference: 0 })
  expect(receiver.timesOf(OTHER)).toEqual([])
})

it('a waiting fix without an assignment is discarded for a copy that no longer gets such fixes', async () => {
  const receiver = await startCopyReceiver(() => 503)
  const copy = copyOf({ to: receiver.url, without_route: true })
  const { configure } = copying(server, [copy])
  await enter('7~')
  await storeCopied(redis, [1], { logs: '7~' })
  await storeCopied(redis, [2], { logs: '7~', isUnassigned: true })
  await storeCopied(redis, [3], { logs: '7~' })
  await vi.waitFor(() => expect(receiver.seen.length).toBeGreaterThan(3), soon)
  configure([{ ...copy, without_route: false, secret: 'next' }])
  await vi.waitFor(() => expect(receiver.seen.at(-1)?.headers).toHaveProperty('waybridge-signature'), soon)
  await enter('7')
  await storeCopied(redis, [4], { logs: '7' })
  receiver.answer(() => 200)
  await until({ waiting: 0, delivered: 3, discarded: 1, difference: 0 })
  expect(receiver.timesOf()).toEqual([1, 3, 4])
})

it('waiting fixes come first and complete if a copy now also gets positions without an assignment', async () => {
  const receiver = await startCopyReceiver(() => 503)
  const copy = copyOf({ to: receiver.url })
  const other = copyOf({ name: 'other', to: receiver.url })
  const { configure } = copying(server, [copy, other])
  await enter('7')
  await storeCopied(redis, [1, 2])
  await vi.waitFor(() => expect(receiver.seen.length).toBeGreaterThan(3), soon)
  configure([{ ...copy, without_route: true }])
  await vi.waitFor(async () => expect(await account()).toMatchObject({ waiting: 2 }), soon)
  await enter('7~')
  await storeCopied(redis, [3], { logs: '7~' })
  // Longer than a copy may be silent before it loses its log.
  await sleep(13_000)
  expect(await account()).toMatchObject({ waiting: 3, discarded: 0 })
  receiver.answer(() => 200)
  await until({ waiting: 0, delivered: 3, discarded: 0, difference: 0 })
  expect(receiver.timesOf()).toEqual([1, 2, 3])
  await vi.waitFor(async () => expect(await redis.keys('*cursors:7')).toEqual([]), soon)
})

it('a waiting fix is sent with the present secret and format of its copy', async () => {
  const receiver = await startCopyReceiver(() => 503)
  const copy = copyOf({ to: receiver.url, secret: 'first' })
  const { configure } = copying(server, [copy])
  await enter('7')
  await storeCopied(redis, [1])
  await vi.waitFor(() => expect(receiver.seen.length).toBeGreaterThan(0), soon)
  configure([copyOf({ to: receiver.url, secret: 'second', format: 'osmand' })])
  await vi.waitFor(() => expect(receiver.seen.at(-1)?.method).toBe('GET'), soon)
  receiver.answer(() => 200)
  await until({ waiting: 0, delivered: 1 })
  expect(receiver.taken.map(({ url }) => url)).toEqual([
    `/?id=${VAN}&timestamp=1&lat=52.5&lon=13.4&accuracy=5&token=second`,
  ])
})

it('a retry sends the parked positions that a copy still gets, and discards the others', async () => {
  const receiver = await startCopyReceiver(() => 422)
  const copy = copyOf({ to: receiver.url, without_route: true })
  const { configure } = copying(server, [copy], { companies: ['7', '8'] })
  await enter('7~', '8~')
  await storeCopied(redis, [1], { logs: '7~' })
  await storeCopied(redis, [2], { logs: '7~', isUnassigned: true })
  await storeCopied(redis, [3], { logs: '8~', device: OTHER, lane: '8/1/1' })
  await until({ parked: 3 })
  receiver.answer(() => 200)
  configure([{ ...copy, without_route: false, companies: ['7'] }])
  expect(await retryCopy(redis, 'crm')).toBe(3)
  await until({ parked: 0, delivered: 1, discarded: 2, difference: 0 })
  expect([receiver.timesOf(), receiver.timesOf(OTHER)]).toEqual([[1], []])
})

it('a copy over HTTPS trusts the CA that its file now contains', async () => {
  const certificates = await CertificateMaker.create()
  onTestFinished(() => certificates.remove())
  const [before, after] = [await certificates.server('before'), await certificates.server('after')]
  const receiver = createServer({ cert: before.cert, key: before.key }, (request, response) => {
    request.resume().once('end', () => response.end())
  })
  const [port] = await freePorts(1)
  await listening(receiver, port)
  onTestFinished(() => receiver.close().closeAllConnections())
  const ca = join(certificates.dir, 'ca.pem')
  await writeFile(ca, before.cert)
  await enterCopies(redis, [{ copy: 'crm', log: '7' }])
  copying(server, [copyOf({ to: `https://localhost:${port}`, tls: { ca } })])
  await storeCopied(redis, [1])
  await expect.poll(account, { timeout: 20_000 }).toMatchObject({ delivered: 1 })
  receiver.setSecureContext({ cert: after.cert, key: after.key })
  receiver.closeAllConnections()
  await storeCopied(redis, [2])
  await writeFile(ca, after.cert)
  await expect.poll(account, { timeout: 20_000 }).toMatchObject({ delivered: 2, difference: 0 })
})
