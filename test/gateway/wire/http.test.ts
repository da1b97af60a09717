import { Agent, request } from 'undici'
import { expect, it, onTestFinished } from 'vitest'
import type { HttpRequest } from '../../../protocols/kit/index.ts'
import osmand from '../../../protocols/osmand/index.ts'
import { Backpressure } from '../../../src/gateway/admit/backpressure.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import {
  count,
  dial,
  type Gateway,
  gateway,
  open,
  openConnections,
  refusals,
  SECRET,
  talk,
  until,
} from '../../support/listen.ts'

const AT = { host: '127.0.0.1', port: 0, protocol: talk }
const listen = (shared: Gateway, protocol: typeof talk | typeof osmand = talk) =>
  open(listenHttp({ ...AT, protocol }, shared))

/** Bytes that a request for `/fixof%20van-1` without a body counts for. */
const REQUEST_BYTES = 14

/** A client with connections of its own, which it keeps. */
function client(port: number) {
  const dispatcher = new Agent({ pipelining: 1, connections: 1 })
  onTestFinished(() => dispatcher.destroy())
  return async (path: string, options: { method?: 'GET' | 'POST'; body?: string | Buffer } = {}) => {
    const { statusCode, headers, body } = await request(`http://127.0.0.1:${port}${path}`, { dispatcher, ...options })
    return { status: statusCode, text: await body.text(), type: headers['content-type'], headers }
  }
}

function ask(what: string): string {
  return `GET /${what} HTTP/1.1\r\nHost: x\r\n\r\n`
}

/** The head of a request whose body may begin with blanks. */
function post(length: number): string {
  return `POST /fixof%20van-1%20 HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`
}

it('answers an HTTP request with 200 and the reply of the protocol once the fix is stored', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  const get = client(port)
  shared.store = 'waits'
  let answered = false
  const answer = get('/fixof%20van-1').finally(() => (answered = true))
  await until(async () => expect(await count('in_flight_bytes')).toBe(REQUEST_BYTES))
  expect(answered).toBe(false)
  shared.store = 'takes'
  expect(await answer).toMatchObject({ status: 200, text: 'ok\n' })
  expect(shared.places[0]).toBe('7/42/1001')
})

it('answers 200 to OsmAnd by query, form and JSON over one kept connection', async () => {
  const shared = gateway()
  const { port } = await listen(shared, osmand)
  const send = client(port)
  const time = Math.floor(Date.now() / 1000)
  const place = `lat=50.1&lon=8.7&timestamp=${time}`
  const location = { timestamp: new Date(time * 1000).toISOString(), coords: { latitude: 50.1, longitude: 8.7 } }
  const answers = [
    await send(`/?id=van-1&${place}`),
    await send('/', { method: 'POST', body: `id=7&${place}` }),
    await send('/', { method: 'POST', body: JSON.stringify({ device_id: 'van-1', location }) }),
  ]
  expect(answers.map(({ status, text }) => status + text)).toEqual(['200', '200', '200'])
  expect(shared.places).toEqual(['7/42/1001', '7/43/1002', '7/42/1001'])
  await until(async () => expect(await openConnections('http')).toBe(1))
})

it('sends a JSON reply with the content type of JSON', async () => {
  const { port } = await listen({
    ...gateway(),
    ingest: { ...gateway().ingest, take: async () => ({ status: 'stored', reply: Buffer.from('[]') }) },
  })
  expect(await client(port)('/')).toMatchObject({ status: 200, text: '[]', type: 'application/json' })
})

it('answers 400 to an HTTP request that is not understood', async () => {
  const { port } = await listen(gateway(), osmand)
  const answer = await client(port)('/favicon.ico')
  expect(answer).toMatchObject({ status: 400, type: 'text/plain; charset=utf-8' })
  expect(answer.text).toBe('The request has no position that can be understood: see the parameters of this protocol.\n')
})

it('answers 403 to an HTTP request of an unknown device', async () => {
  const { port } = await listen(gateway(), osmand)
  const answer = await client(port)('/?id=nobody&lat=50&lon=8')
  expect([answer.status, answer.text]).toEqual([
    403,
    'This device is not configured here, or it did not present its secret: check its id and its secret.\n',
  ])
})

it('answers 403 over HTTP to a wrong secret, and 200 to the right one', async () => {
  const { port } = await listen(gateway(), osmand)
  const get = client(port)
  const without = await get('/?id=locked&lat=50&lon=8')
  const wrong = await get('/?id=locked&lat=50&lon=8&token=guess')
  const right = await get(`/?id=locked&lat=50&lon=8&token=${encodeURIComponent(SECRET)}`)
  expect([without.status, wrong.status, right.status]).toEqual([403, 403, 200])
  expect(wrong.text).toBe((await get('/?id=nobody&lat=50&lon=8')).text)
})

it('answers 403 with the text by which the protocol refuses a device', async () => {
  const { port } = await listen(gateway())
  expect(await client(port)('/id%20nobody')).toMatchObject({ status: 403, text: 'no\n' })
})

it('answers 503 to a fix that cannot be stored, and 200 when it is sent again', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  const get = client(port)
  shared.store = 'fails'
  const answer = await get('/fixof%20van-1')
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '10'])
  shared.store = 'takes'
  expect(await get('/fixof%20van-1')).toMatchObject({ status: 200 })
  expect(shared.stored).toHaveLength(1)
})

it('answers 200 to an HTTP request that waited for Redis', async () => {
  const shared = gateway({ waitMs: 20_000 })
  const { port } = await listen(shared)
  shared.store = 'fails'
  const answer = client(port)('/fixof%20van-1')
  await until(async () => expect(await count('in_flight_bytes')).toBe(REQUEST_BYTES))
  shared.store = 'takes'
  expect(await answer).toMatchObject({ status: 200 })
  expect(shared.stored).toHaveLength(1)
})

it('answers 503 after a fault in handling a frame, and serves other requests', async () => {
  const shared = gateway()
  const take: Gateway['ingest']['take'] = async (frame, session, protocol) => {
    if ((frame as HttpRequest).uri === '/mute') throw new RangeError('a fault of ours')
    return shared.ingest.take(frame, session, protocol)
  }
  const { port } = await listen({ ...shared, ingest: { ...shared.ingest, take } })
  const get = client(port)
  expect(await get('/mute')).toMatchObject({ status: 503 })
  expect(await get('/fixof%20van-1')).toMatchObject({ status: 200 })
  expect(await count('in_flight_bytes')).toBe(0)
})

it('answers 413 to a body that is too long, with a length or chunked', async () => {
  const refused = await refusals('frame_too_long')
  const shared = gateway()
  const { port } = await listen(shared)
  const send = client(port)
  expect(await send('/', { method: 'POST', body: Buffer.alloc(4097, 'x') })).toMatchObject({ status: 413 })
  const peer = await dial(port)
  peer.say('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1001\r\n')
  peer.say(`${'x'.repeat(4097)}\r\n0\r\n\r\n`)
  await until(() => expect(peer.heard).toMatch(/^HTTP\/1.1 413 /))
  expect(await send('/fixof%20van-1', { method: 'POST' })).toMatchObject({ status: 200 })
  expect(await refused()).toBe(2)
})

it('accepts a body of exactly the maximum length', async () => {
  const { port } = await listen(gateway())
  const body = ' '.repeat(4096)
  expect(await client(port)('/fixof%20van-1', { method: 'POST', body })).toMatchObject({ status: 200 })
})

it('ends the connection of a client that sends a body without end', async () => {
  const refused = await refusals('frame_too_long')
  const { port } = await listen(gateway())
  const peer = await dial(port)
  peer.say('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n')
  const part = Buffer.alloc(65_536, 'x')
  for (let sent = 0; sent < 1500 && !peer.over; sent++)
    if (!peer.socket.write(part))
      await Promise.race(['drain', 'close'].map((event) => new Promise((resolve) => peer.socket.once(event, resolve))))
  await until(() => expect(peer.over).toBe(true))
  expect(await refused()).toBe(1)
})

it.for([
  ['nothing', ''],
  ['part of a header', 'GET /fix HTTP/1.1\r\nHost: '],
  ['part of a body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nfix'],
])('answers 408 after identify_timeout to an HTTP client that sends %s', async ([, text]) => {
  const refused = await refusals('not_identified')
  const { port } = await listen(gateway({ limits: { identify_timeout: 200 } }))
  const peer = await dial(port)
  peer.say(text)
  await until(() => expect(peer.over).toBe(true))
  expect(peer.heard).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/)
  expect(peer.heard).toMatch(/The request did not arrive in time \(limits.identify_timeout\)\.\n$/)
  expect(await refused()).toBe(1)
})

it('answers 408 after identify_timeout to an HTTP client that sends a byte now and then', async () => {
  const { port } = await listen(gateway({ limits: { identify_timeout: 500 } }))
  const peer = await dial(port)
  peer.say('GET /')
  const timer = setInterval(() => peer.say('x'), 50)
  await until(() => expect(peer.over).toBe(true))
  clearInterval(timer)
  expect(peer.heard).toMatch(/^HTTP\/1.1 408 /)
})

it('answers 400 to a client that does not speak HTTP', async () => {
  const refused = await refusals('malformed_request')
  const { port } = await listen(gateway())
  const peer = await dial(port)
  peer.say('*HQ,8168000008,V1,043602,A,2234.9273,N,11354.3980,E#\n')
  await until(() => expect(peer.over).toBe(true))
  expect(peer.heard).toMatch(/^HTTP\/1.1 400 Bad Request\r\n[\s\S]*This is not an HTTP request\.\n$/)
  expect(await refused()).toBe(1)
})

it('answers 431 to a client that sends headers without end', async () => {
  const refused = await refusals('headers_too_long')
  const { port } = await listen(gateway())
  const peer = await dial(port)
  peer.say(`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}`)
  await until(() => expect(peer.over).toBe(true))
  expect([peer.heard.slice(0, 13), await refused()]).toEqual(['HTTP/1.1 431 ', 1])
})

it('serves other HTTP clients after one goes away before its answer', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  shared.store = 'waits'
  const peer = await dial(port)
  peer.say('GET /fixof%20van-1 HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(async () => expect(await count('in_flight_bytes')).toBe(REQUEST_BYTES))
  peer.socket.resetAndDestroy()
  await until(async () => expect(await openConnections('http')).toBe(0))
  shared.store = 'takes'
  expect(await client(port)('/fixof%20van-1')).toMatchObject({ status: 200 })
  expect(shared.stored).toHaveLength(2)
})

it('admits max_connections_per_ip HTTP connections from an address', async () => {
  const refused = await refusals('max_per_ip')
  const { port } = await listen(gateway({ limits: { max_connections_per_ip: 1 } }))
  const get = client(port)
  await get('/fixof%20van-1')
  const second = await dial(port)
  await until(() => expect(second.over).toBe(true))
  expect(await refused()).toBe(1)
  expect(await get('/fixof%20van-1')).toMatchObject({ status: 200 })
})

it('ends a kept HTTP connection after idle_timeout without a request', async () => {
  const { port } = await listen(gateway({ limits: { idle_timeout: 100 } }))
  const peer = await dial(port)
  peer.say('GET /fixof%20van-1 HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => expect(peer.heard).toMatch(/^HTTP\/1.1 200 OK[\s\S]*ok\n$/))
  await until(() => expect(peer.over).toBe(true))
})

it('answers 503 to the client with most bytes when all listeners together hold too many', async () => {
  const refused = await refusals('memory')
  const shared = gateway({ pressure: new Backpressure({ maxPartialBytes: 6000 }) })
  const [one, other] = [await listen(shared), await listen(shared)]
  const [hog, newcomer] = [await dial(one.port), await dial(other.port)]
  hog.say(post(4000) + ' '.repeat(3900))
  await until(() => expect(hog.socket.bytesWritten).toBe(post(4000).length + 3900))
  newcomer.say(post(3000) + ' '.repeat(3000))
  await until(() => expect(newcomer.heard).toMatch(/^HTTP\/1.1 200 /))
  hog.say(' '.repeat(100))
  await until(() => expect(hog.heard).toMatch(/^HTTP\/1.1 503 /))
  expect(await refused()).toBe(1)
})

it('answers 503 when many short HTTP requests wait to be stored', async () => {
  const shared = gateway({ pressure: new Backpressure({ highMark: 12_000 }) })
  const { port } = await listen(shared)
  shared.store = 'waits'
  const waiting = [client(port)('/fixof%20van-1'), client(port)('/fixof%20007')]
  await until(() => expect(shared.pressure.isHigh).toBe(true))
  expect(await client(port)('/fixof%20van-1')).toMatchObject({ status: 503 })
  shared.store = 'takes'
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200])
})

it('answers 503 to new HTTP requests under pressure', async () => {
  const refused = await refusals('overload')
  const shared = gateway({ pressure: new Backpressure({ highMark: 10 }) })
  const { port } = await listen(shared)
  shared.store = 'waits'
  const first = client(port)('/fixof%20van-1')
  await until(() => expect(shared.pressure.isHigh).toBe(true))
  const second = client(port)
  expect(await second('/fixof%20007')).toMatchObject({ status: 503, text: 'Too many requests are under way.\n' })
  shared.store = 'takes'
  expect(await first).toMatchObject({ status: 200 })
  expect(await second('/fixof%20007')).toMatchObject({ status: 200 })
  expect(await refused()).toBe(1)
})

it('serves pipelined requests one at a time and in order', async () => {
  const shared = gateway()
  const asked: string[] = []
  const answers: (() => void)[] = []
  const take: Gateway['ingest']['take'] = async (frame) => {
    const { uri } = frame as HttpRequest
    asked.push(uri.slice(1))
    await new Promise<void>((resolve) => answers.push(resolve))
    return { status: 'stored', reply: Buffer.from(uri.slice(1)) }
  }
  const { port } = await listen({ ...shared, ingest: { ...shared.ingest, take } })
  const peer = await dial(port)
  peer.say(ask('one') + ask('two') + ask('three'))
  for (const [index, name] of ['one', 'two', 'three'].entries()) {
    await until(() => expect(answers).toHaveLength(index + 1))
    expect([asked[index], await count('in_flight_bytes')]).toEqual([name, name.length + 1])
    answers[index]()
  }
  await until(() => expect(peer.heard.match(/one|two|three/g)).toEqual(['one', 'two', 'three']))
  expect(peer.over).toBe(false)
  await until(() => expect(asked).toHaveLength(3))
})

it('serves all pipelined requests of a client that has ended its half of the connection', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  shared.store = 'waits'
  const peer = await dial(port)
  peer.socket.end(['fixof%20van-1', 'fixof%20007', 'fixof%20van-1'].map(ask).join(''))
  await until(() => expect(shared.tries).toBe(1))
  // By then Node has handled the end of the connection.
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
  shared.store = 'takes'
  await until(() => expect(peer.over).toBe(true))
  expect(shared.places).toEqual(['7/42/1001', '7/43/1002', '7/42/1001'])
  expect(peer.heard.match(/200 OK/g)).toHaveLength(3)
})

it('counts pipelined requests as pressure only while they wait', async () => {
  const shared = gateway({ pressure: new Backpressure({ highMark: 24_000 }) })
  const { port } = await listen(shared)
  const peer = await dial(port)
  shared.store = 'waits'
  peer.say(ask('fixof%20van-1').repeat(4))
  await until(() => expect(shared.pressure.isHigh).toBe(true))
  expect(await count('in_flight_bytes')).toBe(REQUEST_BYTES)
  shared.store = 'takes'
  await until(() => expect(shared.pressure.isHigh).toBe(false))
})

it('ends a connection with too many pipelined requests', async () => {
  const refused = await refusals('pipelining')
  const shared = gateway()
  const { port } = await listen(shared)
  const peer = await dial(port)
  shared.store = 'waits'
  peer.say(ask('fixof%20van-1').repeat(1000))
  await until(() => expect(peer.over).toBe(true))
  shared.store = 'takes'
  await until(() => expect(shared.pressure.isHigh).toBe(false))
  expect(await client(port)('/fixof%20van-1')).toMatchObject({ status: 200 })
  expect([await refused(), shared.stored.length, peer.heard]).toEqual([1, 2, ''])
})

it('ends a connection without an answer when garbage follows a request', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  const peer = await dial(port)
  shared.store = 'waits'
  peer.say(`${ask('fixof%20van-1')}nonsense\r\n\r\n`)
  await until(() => expect(peer.over).toBe(true))
  expect(peer.heard).toBe('')
  shared.store = 'takes'
})

it('closes an HTTP listener after the given time although a fix is not stored', async () => {
  const shared = gateway()
  const listener = await listenHttp(AT, shared)
  const peer = await dial(listener.port)
  shared.store = 'waits'
  peer.say('GET /fixof%20van-1 HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(async () => expect(await count('in_flight_bytes')).toBe(REQUEST_BYTES))
  await listener.close(50)
  await until(() => expect(peer.over).toBe(true))
  shared.store = 'takes'
  await until(async () => expect(await count('in_flight_bytes')).toBe(0))
  expect(peer.heard).toBe('')
})

it('stores and answers requests read before an HTTP listener closes, and keeps no connection open', async () => {
  const shared = gateway()
  const listener = await listenHttp(AT, shared)
  const idle = await dial(listener.port)
  const half = await dial(listener.port)
  half.say('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nfix')
  shared.store = 'waits'
  const answer = client(listener.port)('/fixof%20van-1')
  await until(async () => expect(await count('in_flight_bytes')).toBe(REQUEST_BYTES))
  const closed = listener.close()
  shared.store = 'takes'
  await closed
  expect(await answer).toMatchObject({ status: 200, text: 'ok\n', headers: { connection: 'close' } })
  await until(() => expect([idle.over, half.over]).toEqual([true, true]))
})
