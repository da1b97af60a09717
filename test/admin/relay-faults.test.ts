import net, { type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { attempt } from '../../src/tracking/attempts.ts'
import { createTrackingClient, type TrackingClient } from '../../src/tracking/client.ts'
import { OPERATIONS, type OperationName } from '../../src/tracking/operations.ts'
import { NOWHERE } from '../support/admin.ts'
import { OPERATE, recordingServer, relayFixture } from '../support/relay.ts'
import { atEnd, listen } from '../support/tracking/http-servers.ts'

const relay = relayFixture([{ company_id: '7', apikey: 'canary-apikey', oauth_token: 'canary-oauth' }])

const JSON_TYPE = { 'content-type': 'application/json' }
const NUMBER = '/api/v1/companies/7/numbers/5'
const ITEMS = '/api/v1/companies/7/orders/3/items'
type Asked = readonly [name: OperationName, path: string, method: 'GET' | 'POST' | 'DELETE', body?: string]

const REPEATABLE: readonly Asked[] = [
  ['getNumber', NUMBER, 'GET'],
  ['putNumber', NUMBER, 'POST', '{"number":"1"}'],
  ['listNumbers', '/api/v1/companies/7/numbers', 'GET'],
  ['deleteNumber', NUMBER, 'DELETE'],
  ['courierPositions', '/api/v2/companies/7/routes/1/courier-positions?from=1', 'GET'],
  ['listItems', ITEMS, 'GET'],
  ['deleteItems', ITEMS, 'DELETE'],
  ['deleteItem', `${ITEMS}/4`, 'DELETE'],
]
const ONCE: readonly Asked[] = [
  ['addItems', ITEMS, 'POST', '[{"number":"A","description":"","price":"1","total_count":1}]'],
  ['returnItems', '/companies/7/orders/3:return', 'POST', '[{"item_id":1,"undelivered_count":1}]'],
  ['returnItemsV1', '/api/v1/companies/7/orders/3:return', 'POST', '[{"item_id":1,"undelivered_count":1}]'],
]

/** Changes that are repeated even if they may have been done. */
const HARMLESS = REPEATABLE.filter(([, , method]) => method !== 'DELETE')
const DELETES = REPEATABLE.filter(([, , method]) => method === 'DELETE')

function ask([, path, method, body]: Asked) {
  return relay.ask(path, { method, body, headers: { ...OPERATE, ...(body && JSON_TYPE) } })
}

/** Starts a server that handles each connection by a function once a request has begun. */
async function wildServer(answer: (socket: Socket) => unknown) {
  let requests = 0
  const server = net.createServer((socket) => {
    socket.once('data', () => {
      requests++
      answer(socket)
    })
  })
  const url = await listen(server)
  return { url, requests: () => requests }
}

/** Starts a server that resets each connection at its second request, like one whose idle timer has just expired. */
function closingServer() {
  const server = net.createServer((socket) => {
    let text = ''
    let requests = 0
    socket.on('data', (chunk) => {
      text += chunk.toString()
      if (!/^(?:GET|DELETE) .*\r\n\r\n$|^POST .*\]$/s.test(text)) return
      text = ''
      if (++requests > 1) socket.resetAndDestroy()
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
    })
  })
  return listen(server)
}

function drip(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
  const timer = setInterval(() => socket.write('x'), 10)
  socket.on('close', () => clearInterval(timer))
}

it('the relay answers 502 with the service and the reason if nothing listens', async () => {
  relay.relayTo(`${NOWHERE}/base/`)
  const asked = [...REPEATABLE, ...ONCE]
  const answers = await Promise.all(asked.map(ask))
  expect(answers.map(({ status, json }) => [status, json])).toEqual(
    asked.map(([name]) => {
      const { method, path } = OPERATIONS[name]
      return [502, { message: `${NOWHERE}/base/ refuses connections: ${method} ${path}` }]
    }),
  )
})

it('the relay answers 502 if the name of the service has no address', async () => {
  relay.relayTo('http://user:canary-password@host.invalid/?apikey=canary-key')
  const { status, json } = await ask(REPEATABLE[0])
  const message =
    'http://***@host.invalid/?apikey=*** is a name without an address: ' +
    'GET /api/v1/companies/{company_id}/numbers/{contractor_company_id}'
  expect([status, json]).toEqual([502, { message }])
})

const BROKEN: readonly (readonly [string, (socket: Socket) => unknown])[] = [
  ['resets', (socket) => socket.resetAndDestroy()],
  ['ends', (socket) => socket.end()],
  ['ends in the middle', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf')],
]

it.each(BROKEN)(
  'the relay sends a repeatable request three times if the service breaks off: %s',
  async (_, breakOff) => {
    const { url, requests } = await wildServer(breakOff)
    relay.relayTo(url)
    const answers = await Promise.all(HARMLESS.map(ask))
    expect(answers.map(({ status, json }) => [status, json])).toEqual(
      HARMLESS.map(([name]) => {
        const { method, path } = OPERATIONS[name]
        const doubt = method === 'GET' ? '' : '; it may have been done all the same, and may be repeated'
        return [502, { message: `${url}/ ended the connection without a whole answer: ${method} ${path}${doubt}` }]
      }),
    )
    expect(requests()).toBe(3 * HARMLESS.length)
  },
)

it.each(BROKEN)('the relay sends a DELETE once if the service breaks off: %s', async (_, breakOff) => {
  const { url, requests } = await wildServer(breakOff)
  relay.relayTo(url)
  const answers = await Promise.all(DELETES.map(ask))
  expect(answers.map(({ status, json }) => [status, json])).toEqual(
    DELETES.map(([name]) => {
      const what = `DELETE ${OPERATIONS[name].path}; it may have been done all the same, and may be repeated`
      return [502, { message: `${url}/ ended the connection without a whole answer: ${what}` }]
    }),
  )
  expect(requests()).toBe(DELETES.length)
})

it('the relay says that a change may have been done in the first of several attempts', async () => {
  const server = net.createServer((socket) =>
    socket.once('data', () => {
      server.close()
      socket.resetAndDestroy()
    }),
  )
  const url = await listen(server)
  relay.relayTo(url)
  const { status, json } = await ask(REPEATABLE[1])
  const what = `POST ${OPERATIONS.putNumber.path}; it may have been done all the same, and may be repeated`
  expect([status, json]).toEqual([502, { message: `${url}/ refuses connections: ${what}` }])
})

it.each(ONCE.map((asked) => [asked[0], asked] as const))(
  'the relay sends an operation that must not be repeated once if the service breaks off: %s',
  async (_, asked) => {
    const { url, requests } = await wildServer((socket) => socket.resetAndDestroy())
    relay.relayTo(url)
    const { status, json } = await ask(asked)
    expect([status, requests()]).toEqual([502, 1])
    expect(json).toMatchObject({
      message: expect.stringMatching(/; it may have been done all the same: look before/),
    })
  },
)

it.each([...ONCE, ...DELETES].map((asked) => [asked[0], asked] as const))(
  'the relay sends an operation that must not be repeated on a new connection: %s',
  async (_, asked) => {
    relay.relayTo(await closingServer(), { connections: 1 })
    const answers = [await ask(REPEATABLE[0]), await ask(asked), await ask(asked), await ask(asked)]
    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [200, '{}']))
  },
)

it.each([
  ['no HTTP', 'SSH-2.0-x\r\n'],
  ['a status that there is not', 'HTTP/1.1 999 OK\r\ncontent-length: 0\r\n\r\n'],
  ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
])('the relay answers 502 at once if the service answers with %s', async (_, text) => {
  const { url, requests } = await wildServer((socket) => socket.end(text))
  relay.relayTo(url)
  const { status, json } = await ask(REPEATABLE[0])
  expect([status, requests()]).toEqual([502, 1])
  expect(json).toMatchObject({ message: expect.stringMatching(/gave an answer that cannot be understood: GET /) })
})

it('the relay passes on the answer of a second attempt', async () => {
  let first = true
  const { url } = await wildServer((socket) => {
    if (first) socket.destroy()
    else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
    first = false
  })
  relay.relayTo(url)
  const { status, text } = await ask(REPEATABLE[1])
  expect([status, text]).toEqual([200, '{}'])
})

it.each([
  ['says nothing', () => {}],
  ['drips', drip],
] as const)('the relay answers 504 at the deadline without another attempt if the service %s', async (_, answer) => {
  const { url, requests } = await wildServer(answer)
  relay.relayTo(url, { timeoutMs: 1_000 })
  const { status, json } = await ask(REPEATABLE[0])
  const message = `${url}/ did not answer in time: GET ${OPERATIONS.getNumber.path}`
  expect([status, json]).toEqual([504, { message }])
  expect(requests()).toBeLessThanOrEqual(1)
})

it('the relay says with a 504 that a change may have been done', async () => {
  const { url } = await wildServer(() => {})
  relay.relayTo(url, { timeoutMs: 1_000 })
  const { status, json } = await ask(ONCE[0])
  expect(status).toBe(504)
  expect(json).toMatchObject({ message: expect.stringMatching(/; it may have been done all the same: look before/) })
})

it('the relay gives a later attempt the rest of the time', async () => {
  const { url } = await recordingServer((response, _, count) => response.writeHead(count < 3 ? 503 : 200).end())
  const client = createTrackingClient({ baseUrl: url, timeoutMs: 600_000, connections: 1 })
  const left: number[] = []
  const watched: TrackingClient = {
    ...client,
    request: (request) => {
      left.push(request.timeoutMs ?? Infinity)
      return client.request(request)
    },
  }
  await attempt(watched, { operation: 'listNumbers', params: { company_id: '7' }, oauthToken: 'canary-oauth' })
  await client.close()
  expect(left[0] - left[1]).toBeGreaterThanOrEqual(190)
  expect(left[1] - left[2]).toBeGreaterThanOrEqual(590)
})

it('the relay has one deadline for all attempts at a slow service', async () => {
  const { url, seen } = await recordingServer((response, _, count) => {
    if (count === 1) response.writeHead(503).end('first')
  })
  relay.relayTo(url, { timeoutMs: 4_000 })
  const began = performance.now()
  expect((await ask(REPEATABLE[0])).status).toBe(504)
  expect(performance.now() - began).toBeGreaterThanOrEqual(3_950)
  expect(seen).toHaveLength(2)
})

it.each([502, 503, 504])(
  'the relay sends a request three times after %d, and passes on the last answer',
  async (status) => {
    const { url, seen } = await recordingServer((response, _, count) => {
      response.writeHead(status, JSON_TYPE).end(`{"count":${count}}`)
    })
    relay.relayTo(url)
    const answer = await ask(REPEATABLE[1])
    expect([answer.status, answer.text]).toEqual([status, '{"count":3}'])
    expect(seen.map(({ body }) => body.toString())).toEqual(Array(3).fill('{"number":"1"}'))
  },
)

it.each(DELETES.map((asked) => [asked[0], asked] as const))(
  'the relay sends a DELETE once if the service is unavailable: %s',
  async (_, asked) => {
    for (const status of [502, 503, 504]) {
      const { url, seen } = await recordingServer((response) => response.writeHead(status).end('no'))
      relay.relayTo(url)
      expect([(await ask(asked)).status, seen.length]).toEqual([status, 1])
    }
  },
)

it.each(ONCE.map((asked) => [asked[0], asked] as const))(
  'the relay sends an operation that must not be repeated once if the service is unavailable: %s',
  async (_, asked) => {
    const { url, seen } = await recordingServer((response) => response.writeHead(503).end('no'))
    relay.relayTo(url)
    const { status, text } = await ask(asked)
    expect([status, text, seen.length]).toEqual([503, 'no', 1])
  },
)

it.each([400, 401, 403, 404, 408, 409, 422, 425, 429, 500, 501, 505])(
  'the relay passes on %d at once',
  async (status) => {
    const { url, seen } = await recordingServer((response) => response.writeHead(status).end('no'))
    relay.relayTo(url)
    expect([(await ask(REPEATABLE[0])).status, seen.length]).toEqual([status, 1])
  },
)

it('the relay waits for a Retry-After of one second', async () => {
  const times: number[] = []
  const { url } = await recordingServer((response, _, count) => {
    times.push(performance.now())
    response.writeHead(count === 1 ? 503 : 200, { 'retry-after': '1' }).end()
  })
  relay.relayTo(url)
  expect((await ask(REPEATABLE[0])).status).toBe(200)
  expect(times[1] - times[0]).toBeGreaterThanOrEqual(990)
})

it('the relay passes on an answer with a longer Retry-After without another attempt', async () => {
  const { url, seen } = await recordingServer((response) => response.writeHead(503, { 'retry-after': '3' }).end())
  relay.relayTo(url)
  const { status, headers } = await ask(REPEATABLE[0])
  expect([status, headers['retry-after'], seen.length]).toEqual([503, '3', 1])
})

it('the relay does not wait for a Retry-After beyond the deadline', async () => {
  const { url, seen } = await recordingServer((response) => response.writeHead(503, { 'retry-after': '2' }).end('no'))
  relay.relayTo(url, { timeoutMs: 1_900 })
  const { status, text } = await ask(REPEATABLE[0])
  expect([status, text, seen.length]).toEqual([503, 'no', 1])
})

it('the relay aborts a GET if its caller disconnects', async () => {
  const { url } = await wildServer((socket) => {
    socket.on('close', () => ended.resolve())
    caller.abort()
  })
  const ended = Promise.withResolvers<void>()
  const caller = new AbortController()
  relay.relayTo(url, { timeoutMs: 600_000 })
  await expect(relay.ask(NUMBER, { signal: caller.signal })).rejects.toThrow()
  await ended.promise
})

it('the relay completes a change with its repeated attempts if its caller disconnects', async () => {
  const caller = new AbortController()
  atEnd(() => caller.abort())
  const { url, seen } = await recordingServer((response, _, count) => {
    if (count === 1) caller.abort()
    response.writeHead(count < 3 ? 503 : 200).end()
  })
  relay.relayTo(url)
  const put = { method: 'POST', body: '{"number":"1"}', headers: { ...OPERATE, ...JSON_TYPE } }
  await expect(relay.ask(NUMBER, { ...put, signal: caller.signal })).rejects.toThrow()
  await expect.poll(() => seen.length).toBe(3)
})

it('the relay answers 502 if an answer is larger than 64 MiB', async () => {
  const body = Buffer.alloc(64 * 1024 * 1024 + 1)
  const { url } = await recordingServer((response) => response.end(body))
  relay.relayTo(url)
  const { status, json } = await ask(REPEATABLE[0])
  expect([status, json]).toEqual([
    502,
    { message: `${url}/ gave an answer that is too large: GET ${OPERATIONS.getNumber.path}` },
  ])
})

const MIB = 1024 * 1024
const POSITIONS = '/api/v2/companies/7/routes/1/courier-positions'

it('the relay passes on an error of 1 MiB', async () => {
  const { url } = await recordingServer((response) => response.writeHead(400).end(Buffer.alloc(MIB, 'x')))
  relay.relayTo(url)
  const { status, text } = await ask(REPEATABLE[0])
  expect([status, text.length]).toEqual([400, MIB])
})

it.each([
  ['', NUMBER, 'getNumber'],
  [', also for a part of a long interval', `${POSITIONS}?from=1&to=10000`, 'courierPositions'],
] as const)('the relay answers 502 to an error of more than 1 MiB%s', async (_, path, name) => {
  const { url } = await recordingServer((response) => response.writeHead(400).end(Buffer.alloc(MIB + 1, 'x')))
  relay.relayTo(url)
  const { status, json } = await ask([name, path, 'GET'])
  expect([status, json]).toEqual([
    502,
    { message: `${url}/ gave an error that is too large: GET ${OPERATIONS[name].path}` },
  ])
})

it('the relay answers and logs no secret', async () => {
  expect(relay.log.length).toBeGreaterThan(60)
  expect(relay.log.join('')).not.toContain('canary')
})
