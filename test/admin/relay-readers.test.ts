import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createConnection, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { recordingServer, relayFixture } from '../support/relay.ts'
import { atEnd } from '../support/tracking/http-servers.ts'

const MIB = 1024 * 1024
const HELD_BYTES = 32 * MIB
/** Longer than a busy machine stalls, because a reader that is slow for this time counts as one that takes nothing. */
const READER_MS = 5000
const relay = relayFixture([{ company_id: '7', apikey: 'canary-apikey', oauth_token: 'canary-oauth' }], {
  heldBytes: HELD_BYTES,
  readerMs: READER_MS,
})

const NUMBER = '/api/v1/companies/7/numbers/5'
const NUMBERS = '/api/v1/companies/7/numbers'
const ITEMS = '/api/v1/companies/7/orders/3/items'
/** More than the socket buffers hold, and more than half of the memory for answers. */
const LARGE = Buffer.alloc(24 * MIB, 'x')

/** Starts a service whose number lists are so large that two do not fit; its other answers are short. */
async function largeAnswers() {
  const { url, seen } = await recordingServer((response, request) =>
    response.end(request.url === NUMBERS ? LARGE : '{}'),
  )
  relay.relayTo(url)
  return { url, seen }
}

/** Requests a large answer, and reads nothing of it. */
async function slowReader(): Promise<Socket> {
  const socket = createConnection(relay.port, '127.0.0.1')
  atEnd(() => socket.destroy())
  socket.pause().on('error', () => {})
  socket.write(`GET ${NUMBERS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer canary-operate\r\n\r\n`)
  await once(socket, 'readable')
  return socket
}

it('the relay has memory for small answers, but not for a second large one, while a reader takes nothing', async () => {
  const { url, seen } = await largeAnswers()
  await slowReader()
  const { status, headers, json } = await relay.ask(NUMBERS)
  const message =
    `${url}/ cannot be relayed until other answers are read, ask again later: ` +
    'GET /api/v1/companies/{company_id}/numbers'
  expect([status, headers['retry-after'], json, seen.length]).toEqual([503, '5', { message }, 2])
  expect((await relay.ask(NUMBER)).status).toBe(200)
})

it('the relay frees the memory of an answer when its reader disconnects', async () => {
  await largeAnswers()
  const reader = await slowReader()
  reader.destroy()
  await expect.poll(async () => (await relay.ask(NUMBERS)).status).toBe(200)
})

it('the relay frees the memory of an answer whose reader disconnected before it came', async () => {
  const caller = new AbortController()
  const ended = Promise.withResolvers<void>()
  const { url } = await recordingServer(async (response, request) => {
    if (request.method === 'DELETE') {
      caller.abort()
      await delay(100)
    }
    response.end(LARGE, () => ended.resolve())
  })
  relay.relayTo(url)
  await expect(relay.ask(NUMBER, { method: 'DELETE', signal: caller.signal })).rejects.toThrow()
  await ended.promise
  await expect.poll(async () => (await relay.ask(NUMBERS)).status).toBe(200)
})

it('the relay disconnects a reader that takes nothing', async () => {
  await largeAnswers()
  const reader = await slowReader()
  await expect.poll(async () => (await relay.ask(NUMBERS)).status, { timeout: 30_000, interval: 500 }).toBe(200)
  const chunks: Buffer[] = []
  reader.on('data', (chunk: Buffer) => chunks.push(chunk)).resume()
  await once(reader, 'close')
  expect(Buffer.concat(chunks).length).toBeLessThan(LARGE.length)
})

it('the relay sends a whole answer to a slow reader', async () => {
  await largeAnswers()
  const began = performance.now()
  const reader = await slowReader()
  let length = 0
  for await (const chunk of reader as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length % MIB < chunk.length) await delay((1.5 * READER_MS) / (LARGE.length / MIB))
    if (length > LARGE.length) break
  }
  expect(length).toBeGreaterThan(LARGE.length)
  expect(performance.now() - began).toBeGreaterThan(READER_MS)
})

it('the relay answers 503 without a call while requests in flight take all the memory', async () => {
  const waiting: ServerResponse[] = []
  const { url, seen } = await recordingServer((response) => {
    if (waiting.push(response) > 8) response.end('{}')
  })
  relay.relayTo(url)
  const most = HELD_BYTES / (64 * 1024)
  let refused = 0
  const all = Array.from({ length: most + 3 }, () => relay.ask(NUMBER))
  for (const each of all) void each.then(({ status }) => (refused += Number(status === 503)))
  await expect.poll(() => refused).toBe(3)
  for (const response of waiting.slice(0, 8)) response.end('{}')
  const answers = await Promise.all(all)
  const message =
    `${url}/ cannot be relayed until other answers are read, ask again later: ` +
    'GET /api/v1/companies/{company_id}/numbers/{contractor_company_id}'
  const others = answers.filter(({ status }) => status === 503)
  expect(others.map(({ json }) => json)).toEqual(others.map(() => ({ message })))
  expect(others).toHaveLength(3)
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(most)
  expect(seen).toHaveLength(most)
})

it('the relay counts the memory of joined windows', async () => {
  const FROM = 1_700_000_000
  const list = Buffer.from(`[1${' '.repeat(12 * MIB)}]`)
  const { url } = await recordingServer((response) => response.end(list))
  relay.relayTo(url)
  const path = '/api/v2/companies/7/routes/1/courier-positions'
  expect((await relay.ask(`${path}?from=${FROM}&to=${FROM + 2 * 7201 - 1}`)).status).toBe(200)
  const { status, headers } = await relay.ask(`${path}?from=${FROM}&to=${FROM + 3 * 7201 - 1}`)
  expect([status, headers['retry-after']]).toEqual([503, '5'])
  expect((await relay.ask(`${path}?from=${FROM}&to=${FROM + 2 * 7201 - 1}`)).status).toBe(200)
})

it('the relay says that an addition may have been done if there is no memory for its answer', async () => {
  const { url } = await recordingServer((response) => response.end(Buffer.alloc(HELD_BYTES)))
  relay.relayTo(url)
  const { status, json } = await relay.ask(ITEMS, {
    method: 'POST',
    headers: { authorization: 'Bearer canary-operate', 'content-type': 'application/json' },
    body: '[{"number":"A","description":"","price":"1","total_count":1}]',
  })
  expect([status, json]).toEqual([
    503,
    { message: expect.stringMatching(/; it may have been done all the same: look before you repeat it$/) as unknown },
  ])
})
