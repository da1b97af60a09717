import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { Conversation } from '../../src/gateway/conversation.ts'
import type { HeardBook } from '../../src/gateway/heard.ts'
import { connect, keys, type Store } from '../../src/store/index.ts'
import { dialRedis, type TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'
import { beatingHeardBook } from '../support/beat.ts'

const soon = { timeout: 30_000 }
const LATE_MS = 500
const LAST = 'van 4999'
let server: TestRedis
let redis: Store

withRedis((started, connection) => {
  server = started
  redis = connection
})

/** A connection to Redis whose every answer comes late. */
async function distant(): Promise<Store> {
  const proxy = createServer((near: Socket) => {
    const far = dialRedis(server.url)
    near.pipe(far).on('data', (bytes: Buffer) => setTimeout(() => near.write(bytes), LATE_MS))
    for (const [one, other] of [[near, far] as const, [far, near] as const])
      one.on('error', () => {}).on('close', () => other.destroy())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  const connection = connect(`redis://127.0.0.1:${port}`, 'distant')
  onTestFinished(() => {
    connection.disconnect()
    proxy.close()
  })
  await once(connection, 'ready')
  return connection
}

/** A gateway with a slow Redis to which 5,000 devices have just come back, and its sign of life. */
async function crowded(): Promise<{ book: HeardBook; sign: string }> {
  const book = beatingHeardBook(await distant())
  await expect.poll(() => redis.exists(keys.devices, keys.gatewayIds), soon).toBe(1)
  for (let n = 0; n < 5000; n++) book.of(`van ${n}`).spoke(new Conversation('tcp', '10.1.2.3:4000'), 'teltonika')
  await expect.poll(() => redis.exists(keys.eventsPrefix + 'van 0'), soon).toBe(1)
  const [sign] = await redis.keys(keys.gateway('*'))
  return { book, sign }
}

it('a gateway gives its sign of life while events are being written', async () => {
  const { sign } = await crowded()
  await redis.pexpire(sign, 60_000)
  await expect.poll(() => redis.pttl(sign), soon).toBeLessThan(10_000)
  expect(await redis.exists(keys.eventsPrefix + LAST)).toBe(0)
})

it('a gateway removes its sign of life at closing, before the last events are written', async () => {
  const { book, sign } = await crowded()
  void book.close()
  await expect.poll(() => redis.exists(sign), soon).toBe(0)
  expect(await redis.exists(keys.eventsPrefix + LAST)).toBe(0)
  expect(await redis.smembers(keys.gatewayIds)).toEqual([])
})
