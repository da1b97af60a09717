import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createTurns } from '../../src/listen/http/turns.ts'
import { createPressure } from '../../src/listen/pressure.ts'
import { dial, until } from '../support/listen.ts'

it('nothing is made of the rest of a chunk with a thousand requests', async () => {
  const turns = createTurns(() => new Promise(() => {}), createPressure())
  let made = 0
  const server = createServer((request, response) => {
    made++
    turns.receive(request, response)
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const peer = await dial((server.address() as AddressInfo).port)
  peer.say('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000))
  await until(() => expect(peer.over).toBe(true))
  expect(made).toBe(17)
})
