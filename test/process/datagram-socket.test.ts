import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { boundForDatagrams } from '../../src/process/datagram-socket.ts'
import { freePorts } from '../support/free-ports.ts'

it('a datagram waits in a bound socket until a process reads it', async () => {
  const [port] = await freePorts(1)
  const bound = boundForDatagrams({ host: '127.0.0.1', port })
  expect(bound, 'what `_createSocketHandle` of node:dgram makes').toMatchObject({ fd: expect.any(Number) })
  const [sender, reader] = [createSocket('udp4'), createSocket('udp4')]
  onTestFinished(() => [sender, reader].forEach((socket) => socket.close()))
  await new Promise((resolve) => sender.send('early', port, '127.0.0.1', resolve))
  reader.bind({ fd: bound!.fd })
  const [datagram] = (await once(reader, 'message')) as [Buffer]
  expect(String(datagram)).toBe('early')
  expect(boundForDatagrams({ host: '127.0.0.1', port }), 'an address that is taken').toBeUndefined()
})
