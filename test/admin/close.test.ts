import { once } from 'node:events'
import { createServer, connect as dial } from 'node:net'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import type { Admin } from '../../src/admin/index.ts'
import type { Store } from '../../src/store/index.ts'
import { OPERATE, openBare } from '../support/admin.ts'
import { listening } from '../support/listening.ts'
import { withRedis } from '../support/with-redis.ts'

let redis: Store

withRedis((_, connection) => (redis = connection))

const log: string[] = []

function open(port = 0): Promise<Admin> {
  const logger = pino({ level: 'debug' }, { write: (line) => void log.push(line) })
  return openBare({ redis, logger, listen: { host: '127.0.0.1', port } })
}

it('the admin port closes despite an unfinished request, and opens again', async () => {
  const admin = await open()
  const socket = dial(admin.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(
    'POST /admin/parked/retry?all=true HTTP/1.1\r\nhost: x\r\nauthorization: Bearer canary-operate\r\ncontent-length: 9\r\n\r\nx',
  )
  const closed = new Promise((resolve) =>
    socket
      .resume()
      .on('error', () => {})
      .once('close', resolve),
  )
  await Promise.all([admin.close(), closed])
  const again = await open(admin.port)
  expect(again.port).toBe(admin.port)
  await again.close()
})

it('the admin port refuses to open on a port in use, and opens on another one', async () => {
  const blocker = createServer()
  const port = await listening(blocker)
  await expect(open(port)).rejects.toMatchObject({ syscall: 'listen', code: 'EADDRINUSE', port })
  blocker.close()
  await (await open()).close()
})

it('the admin port logs requests at debug level, without their tokens', async () => {
  const admin = await open()
  log.length = 0
  await fetch(`http://127.0.0.1:${admin.port}/admin/devices/van12?token=t0k3n`, {
    headers: OPERATE,
  })
  await admin.close()
  const lines = log.map((text) => JSON.parse(text) as { msg: string })
  expect(lines.find(({ msg }) => msg === 'request')).toMatchObject({
    level: 20,
    method: 'GET',
    path: '/admin/devices/:id',
    status: 404,
    msg: 'request',
  })
  expect(log.join('')).not.toMatch(/t0k3n|Bearer/)
})
