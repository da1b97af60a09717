import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { takeConnections } from '../../src/http/insides/connections.ts'
import { replaceIdleEnd } from '../../src/http/insides/idle-connections.ts'
import { endFlood } from '../../src/http/insides/parser.ts'

/* What src/http/insides relies on in Node, and no document of Node promises. */

const REQUEST = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'

async function listening(server: Server): Promise<Socket> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  onTestFinished(() => {
    client.destroy()
    server.close()
  })
  await once(client, 'connect')
  return client
}

function serverOf(serve: RequestListener, timeoutMs = 60_000): Server {
  return createServer({ headersTimeout: timeoutMs, requestTimeout: timeoutMs, connectionsCheckingInterval: 10 }, serve)
}

it('the parser of a connection hands each request to its `onIncoming`', async () => {
  let served = 0
  const client = await listening(
    serverOf(({ socket }) => {
      served++
      endFlood(socket)
    }),
  )
  client.write(REQUEST.repeat(100))
  await once(client, 'close')
  expect(served, 'requests of a chunk that are served after the parser of node:http was stopped').toBe(1)
})

it('a server has one own listener for connections, through which its time-outs apply', async () => {
  const taking = serverOf((_, response) => response.end('served'), 200)
  expect(taking.listenerCount('connection'), 'listeners of node:http for a connection').toBe(1)
  const serve = takeConnections(taking)
  taking.on('connection', serve)
  const codes: unknown[] = []
  taking.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => codes.push(code) && socket.destroy())
  const client = await listening(taking)
  client.write(REQUEST)
  expect(String(await once(client, 'data'))).toContain('served')
  client.write('GET / HT')
  await once(client, 'close')
  expect(codes).toEqual(['ERR_HTTP_REQUEST_TIMEOUT'])
})

it('closing a server ends idle connections through its own `closeIdleConnections`', async () => {
  const closing = serverOf((_, response) => response.end())
  let calls = 0
  replaceIdleEnd(closing, () => calls++)
  const client = await listening(closing)
  client.write(REQUEST)
  await once(client, 'data')
  closing.close()
  expect(calls, 'calls by node:http').toBe(1)
  expect(client.destroyed).toBe(false)
})
