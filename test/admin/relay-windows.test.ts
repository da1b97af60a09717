import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { OPERATE, recordingServer, relayFixture, type Seen } from '../support/relay.ts'
import { startService } from '../support/tracking/service.ts'

const service = await startService()
const relay = relayFixture([{ company_id: '7', apikey: 'canary-apikey', oauth_token: 'token-7' }])

const FROM = 1_700_000_000
const DAYS_31 = 31 * 86_400

function positions(query: string, headers = {}) {
  return relay.ask(`/api/v2/companies/7/routes/1001/courier-positions?${query}`, {
    headers: { ...OPERATE, ...headers },
  })
}

/** Returns the window of a request, in seconds after `FROM`. */
function windowOf({ url = '' }: Seen): [from: number, to: number] {
  const query = new URL(url, 'http://x').searchParams
  return [Number(query.get('from')) - FROM, Number(query.get('to')) - FROM]
}

async function serving(answer: (response: ServerResponse, window: [number, number], seen: Seen) => unknown) {
  const server = await recordingServer((response, seen) => answer(response, windowOf(seen), seen))
  // Longer than a test may take, so that no request fails by its deadline.
  relay.relayTo(server.url, { timeoutMs: 600_000 })
  return server.seen
}

it.each([
  [7_200, [[0, 7_200]]],
  [
    7_201,
    [
      [0, 7_200],
      [7_201, 7_201],
    ],
  ],
  [
    7_202,
    [
      [0, 7_200],
      [7_201, 7_202],
    ],
  ],
  [
    14_401,
    [
      [0, 7_200],
      [7_201, 14_401],
    ],
  ],
  [
    14_402,
    [
      [0, 7_200],
      [7_201, 14_401],
      [14_402, 14_402],
    ],
  ],
])('the relay requests positions of %d s in windows without overlap or gap', async (length, windows) => {
  const seen = await serving((response) => response.end('[]'))
  const { status, text } = await positions(`from=${FROM}&to=${FROM + length}`)
  expect([status, text]).toEqual([200, '[]'])
  expect(seen.map(windowOf).toSorted(([a], [b]) => a - b)).toEqual(windows)
  expect(seen.every(({ headers }) => headers.authorization === 'OAuth token-7')).toBe(true)
})

it('the relay reads all positions of a longer interval in order, once each', async () => {
  const timestamps = Array.from({ length: 900 }, (_, n) => FROM + n * 100).concat([FROM + 7_200, FROM + 7_201])
  const body = { positions: timestamps.map((timestamp) => ({ accuracy: 5, point: { lat: 1, lon: 2 }, timestamp })) }
  const pushed = await service.send('/api/v1/couriers/42/routes/1001/push-positions-v3?apikey=key-7', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(pushed.status).toBe(200)
  relay.relayTo(service.url)
  const { status, headers, json } = await positions(`from=${FROM}&to=${FROM + 86_399}`)
  expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  const expected = [...new Set(timestamps)].filter((timestamp) => timestamp <= FROM + 86_399)
  expect((json as { timestamp: number }[]).map(({ timestamp }) => timestamp)).toEqual(
    expected.toSorted((a, b) => a - b),
  )
})

it('the relay reads 31 days in 372 windows, a few at a time, and joins them in order', async () => {
  let underWay = 0
  let most = 0
  const seen = await serving((response, [from]) => {
    most = Math.max(most, ++underWay)
    const answer = () => response.end(`[{"timestamp":${from}}]`, () => underWay--)
    if (from % 3 === 0) setTimeout(answer, 5)
    else answer()
  })
  const { status, json } = await positions(`from=${FROM}&to=${FROM + DAYS_31}`)
  expect([status, seen.length]).toEqual([200, 372])
  expect(json).toEqual(Array.from({ length: 372 }, (_, n) => ({ timestamp: n * 7_201 })))
  expect(most).toBeLessThanOrEqual(4)
  expect(most).toBeGreaterThan(1)
})

it('the relay joins lists byte for byte', async () => {
  const lists = [' [ ]\n', '[{"lat":1.50,"x":"]["} ,\r\n{}]', '\t[9223372036854775807]', '[[]]']
  await serving((response, [from]) => response.setHeader('content-type', 'application/x-json').end(lists[from / 7_201]))
  const { text, headers } = await positions(`from=${FROM}&to=${FROM + 4 * 7_201 - 1}`)
  expect(text).toBe('[{"lat":1.50,"x":"]["} ,\r\n{},9223372036854775807,[]]')
  expect([headers['content-type'], headers['content-length']]).toEqual(['application/x-json', String(text.length)])
})

it('the relay requests whole windows without encoding, with the other headers of the caller', async () => {
  const seen = await serving((response) => response.end('[]'))
  const headers = { 'accept-encoding': 'gzip', 'if-none-match': '"1"', range: 'bytes=0-1', 'accept-language': 'de' }
  await positions(`from=${FROM}&to=${FROM + 7_201}`, headers)
  for (const { headers: got } of seen)
    expect(Object.keys(got).toSorted()).toEqual([
      'accept-language',
      'authorization',
      'connection',
      'host',
      'traceparent',
      'user-agent',
      'x-request-id',
    ])
})

it.each([400, 401, 403, 404, 422, 429, 500, 304])('the relay answers with the %d of a window', async (status) => {
  const seen = await serving((response, [from]) => {
    if (from === 7_201) response.writeHead(status, { 'content-type': 'text/x', 'retry-after': '9' }).end()
    else response.end('[{}]')
  })
  const answer = await positions(`from=${FROM}&to=${FROM + DAYS_31}`)
  expect([answer.status, answer.text]).toEqual([status, ''])
  expect(answer.headers).toMatchObject({ 'content-type': 'text/x', 'retry-after': '9' })
  expect(seen.length).toBeLessThanOrEqual(6)
})

it('the relay answers with the failed window that is first in time, not the first to arrive', async () => {
  await serving((response, [from]) => {
    if (from === 7_201) setTimeout(() => response.writeHead(403).end('second'), 50)
    else if (from === 14_402) response.writeHead(404).end('third')
    else response.end('[{}]')
  })
  const { status, text } = await positions(`from=${FROM}&to=${FROM + 30_000}`)
  expect([status, text]).toEqual([403, 'second'])
})

it('the relay aborts the other windows if one fails', async () => {
  const closed = Promise.withResolvers<void>()
  await serving((response, [from]) => {
    if (from === 7_201) response.on('close', () => closed.resolve())
    else if (from === 0) response.writeHead(404).end('none')
  })
  const { status, text } = await positions(`from=${FROM}&to=${FROM + 30_000}`)
  expect([status, text]).toEqual([404, 'none'])
  await closed.promise
})

it('the relay answers 504 if a window is late, and 502 if its connection breaks', async () => {
  const { url } = await recordingServer((response, seen) => {
    if (windowOf(seen)[0] === 0) response.end('[]')
  })
  relay.relayTo(url, { timeoutMs: 200 })
  const { status, json } = await positions(`from=${FROM}&to=${FROM + 7_201}`)
  const operation = 'GET /api/v2/companies/{company_id}/routes/{route_id}/courier-positions'
  expect([status, json]).toEqual([504, { message: `${url}/ did not answer in time: ${operation}` }])
  await serving((response, [from]) => (from === 0 ? response.end('[]') : response.destroy()))
  expect((await positions(`from=${FROM}&to=${FROM + 7_201}`)).status).toBe(502)
})

it('the relay repeats a window that fails the first time', async () => {
  let failed = false
  await serving((response, [from]) => {
    if (from === 7_201 && !failed) response.writeHead(503).end()
    else response.end(`[${from}]`)
    failed ||= from === 7_201
  })
  const { status, text } = await positions(`from=${FROM}&to=${FROM + 7_201}`)
  expect([status, text]).toEqual([200, '[0,7201]'])
})

it.each(['', '{}', '[', ']', '"[]"', '<html>', '[1,]', '[1][2]', '[{"lat":1}{"lat":2}]', "['a']", '\ufeff[]'])(
  'the relay answers 502 if a window is not a list but %s',
  async (body) => {
    await serving((response, [from]) => response.end(from === 0 ? '[]' : body))
    const { status, json } = await positions(`from=${FROM}&to=${FROM + 7_201}`)
    expect([status, json]).toEqual([
      502,
      { message: expect.stringMatching(/gave an answer that cannot be understood/) },
    ])
  },
)

it.each(['{},'.repeat(1000), '[],'.repeat(1000)])(
  'the relay answers 502 without parsing if a window has more lists and objects than positions have',
  async (values) => {
    await serving((response, [from]) => response.end(from === 0 ? '[]' : `[${values}0]`))
    expect((await positions(`from=${FROM}&to=${FROM + 7_201}`)).status).toBe(502)
  },
)

it('the relay answers 502 if a window is encoded', async () => {
  await serving((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('[]')))
  expect((await positions(`from=${FROM}&to=${FROM + 7_201}`)).status).toBe(502)
})

describe('positions that are too large to join', () => {
  const MIB = 1024 * 1024
  const list = Buffer.from(`[1${' '.repeat(15 * MIB - 3)}]`)

  it('the relay answers 400 if all windows together are too large, and requests no more', async () => {
    const seen = await serving((response) => response.end(list))
    const { status, json } = await positions(`from=${FROM}&to=${FROM + DAYS_31}`)
    const message = 'to: the positions until then are more than can be joined: ask for a shorter interval'
    expect([status, json]).toEqual([400, { message }])
    expect(seen.length).toBeLessThanOrEqual(9)
  })

  it('the relay answers 400 if one window is too large', async () => {
    await serving(async (response, [from]) => {
      if (from > 0) return response.end('[]')
      response.write(Buffer.alloc(16 * MIB, '['))
      return response.end(']')
    })
    expect((await positions(`from=${FROM}&to=${FROM + 7_201}`)).status).toBe(400)
  })
})

it('the relay requests no more windows if the caller disconnects', async () => {
  const caller = new AbortController()
  const given = Promise.withResolvers<void>()
  const seen = await serving((response, [from]) => {
    if (from > 0) return response.end('[]')
    response.on('close', () => given.resolve())
    return caller.abort()
  })
  const path = `/api/v2/companies/7/routes/1001/courier-positions?from=${FROM}&to=${FROM + DAYS_31}`
  await expect(relay.ask(path, { signal: caller.signal })).rejects.toThrow()
  await given.promise
  await once(process, 'never', { signal: AbortSignal.timeout(50) }).catch(() => {})
  expect(seen.length).toBeLessThanOrEqual(4)
})

it('the relay logs no secret of joined windows', () => {
  expect(relay.log.length).toBeGreaterThan(30)
  expect(relay.log.join('')).not.toMatch(/canary|token-7/)
})
