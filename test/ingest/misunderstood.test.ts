import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { createMisunderstood, type Misunderstood } from '../../src/ingest/misunderstood.ts'
import { connect, keys, type Redis } from '../../src/lanes/index.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'

let server: TestRedis
let redis: Redis

beforeAll(async () => {
  server = await startTestRedis()
  redis = connect(server.url, 'test')
  await vi.waitFor(() => expect(redis.status).toBe('ready'))
})
beforeEach(() => redis.flushall())
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

function entry(payload: string | Buffer, more: Partial<Misunderstood> = {}): Misunderstood {
  return {
    at: 1_790_000_000_000,
    device: 'van-1',
    protocol: 'fix',
    reason: 'malformed',
    payload: Buffer.from(payload),
    ...more,
  }
}

/** What stands in Redis once these were kept, latest first. */
async function kept(...entries: Misunderstood[]): Promise<Record<string, unknown>[]> {
  const book = createMisunderstood(redis)
  for (const each of entries) book.keep(each)
  await book.close()
  return (await redis.lrange(keys.misunderstood, 0, -1)).map((json) => JSON.parse(json) as Record<string, unknown>)
}

it('keeps a misunderstood payload as text or hexadecimal digits, latest first', async () => {
  const about = { at: 1_790_000_000_000, device: 'van-1', protocol: 'fix', reason: 'malformed' }
  expect(await kept(entry('grüße\r\n'), entry(Buffer.from('7878ff', 'hex')))).toEqual([
    { ...about, bytes: 3, hex: '7878ff' },
    { ...about, bytes: 9, text: 'grüße\r\n' },
  ])
})

it('keeps the last 1,000 misunderstood payloads', async () => {
  const first = Array.from({ length: 700 }, (_, i) => entry(`a${i}`))
  const second = Array.from({ length: 1200 }, (_, i) => entry(`b${i}`))
  await kept(...first)
  const texts = (await kept(...second)).map(({ text }) => text)
  expect([texts.length, texts[0], texts[999]]).toEqual([1000, 'b1199', 'b200'])
})

it('keeps the beginning and the length of a long payload', async () => {
  const [{ bytes, text }] = await kept(entry('x'.repeat(5000)))
  expect([bytes, text]).toEqual([5000, 'x'.repeat(1024)])
})

it('keeps a payload as text although it is cut within a character', async () => {
  const [{ text }] = await kept(entry(`x${'ü'.repeat(1000)}`))
  expect(text).toBe(`x${'ü'.repeat(511)}`)
})

it('never keeps the secret of the device, however it is encoded', async () => {
  const secret = 's3cret&"'
  const spelled = [secret, encodeURIComponent(secret), JSON.stringify(secret)]
  const texts = (await kept(...spelled.map((each) => entry(`token=${each}&x=${each}`, { secret })))).map(
    ({ text }) => text,
  )
  expect(texts).toEqual([
    'token="*********"&x="*********"',
    `token=${'*'.repeat(12)}&x=${'*'.repeat(12)}`,
    'token=********&x=********',
  ])
})

it('never keeps a part of a secret that is cut', async () => {
  const [{ text }] = await kept(entry(`${'x'.repeat(1020)}secret`, { secret: 'secret' }))
  expect(text).toBe(`${'x'.repeat(1020)}****`)
})

it('writes misunderstood payloads later when Redis does not answer', async () => {
  const book = createMisunderstood(redis)
  await server.kill('SIGKILL')
  book.keep(entry('before'))
  await vi.waitFor(() => expect(redis.status).not.toBe('ready'))
  await server.restart()
  await vi.waitFor(() => expect(redis.status).toBe('ready'), 5000)
  await book.close()
  const [json] = await redis.lrange(keys.misunderstood, 0, -1)
  expect(json).toContain('"before"')
})
