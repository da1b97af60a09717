import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { Backpressure } from '../../../src/gateway/admit/backpressure.ts'
import { RequestQueues } from '../../../src/gateway/wire/http.ts'
import { dial, until } from '../../support/listen.ts'

it('node:http parses no further request of a chunk once its connection has sent too many', async () => {
  const queues = new RequestQueues(() => new Promise(() => {}), new Backpressure())
  let made = 0
  const server = createServer((request, response) => {
    made++
    queues.add(request, response)
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const peer = await dial((server.address() as AddressInfo).port)
  peer.say('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000))
  await until(() => expect(peer.over).toBe(true))
  expect(made).toBe(17)
})
