import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { openServer } from '../../src/listen/listener.ts'
import { GuardedStream } from '../../src/listen/mqtt-guard.ts'
import { gateway, type Peer, until } from '../support/listen.ts'
import { publish, raw } from '../support/mqtt-bytes.ts'

interface Guarded {
  readonly stream: GuardedStream
  readonly peer: Peer
  held: number
}

/** A guarded stream that is not read yet. */
async function guarded(): Promise<Guarded> {
  const server = createServer()
  onTestFinished(() => void server.close())
  const port = await openServer(server, { host: '127.0.0.1', port: 0 }, gateway().logger)
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const peer = await raw(port)
  const [socket] = await accepted
  const made: Guarded = {
    stream: new GuardedStream(socket, {
      maxLength: () => 1_000_000,
      heard: () => {},
      changed: (bytes) => (made.held += bytes),
      refuse: () => {},
    }),
    peer,
    held: 0,
  }
  return made
}

const packet = publish({ topic: 't', payload: 'x'.repeat(100), qos: 0 })

it('counts the bytes that the broker has not read, and no others', async () => {
  const { stream, peer, ...rest } = await guarded()
  peer.say(packet)
  await until(() => expect(stream.readableLength).toBe(packet.length))
  expect(stream.read()).toEqual(packet)
  peer.say(packet)
  await until(() => expect(stream.readableLength).toBe(packet.length))
  stream.destroy()
  await once(stream, 'close')
  expect(rest.held).toBe(0)
})

it('counts each chunk of an incomplete packet until it is complete', async () => {
  const made = await guarded()
  made.stream.on('readable', () => made.stream.read())
  for (const [index, byte] of packet.subarray(0, 20).entries()) {
    made.peer.say(Buffer.of(byte))
    await until(() => expect(made.held).toBe((index + 1) * 201))
  }
  made.peer.say(packet.subarray(20))
  await until(() => expect(made.held).toBe(0))
  made.peer.say(packet.subarray(0, 50))
  await until(() => expect(made.held).toBe(250))
  made.stream.destroy()
  await until(() => expect(made.held).toBe(0))
})

it('reads the socket no faster than the broker reads', async () => {
  const { stream, peer } = await guarded()
  const much = Buffer.concat(Array.from({ length: 100_000 }, () => packet))
  peer.say(much)
  await until(() => expect(stream.readableLength).toBeGreaterThan(0))
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  expect(stream.readableLength).toBeLessThanOrEqual(65_536)
  let taken = 0
  stream.on('data', (bytes: Buffer) => (taken += bytes.length))
  await until(() => expect(taken).toBe(much.length))
})

it('reads nothing while reading is stopped', async () => {
  const made = await guarded()
  made.stream.stopReading()
  let taken = 0
  made.stream.on('data', (bytes: Buffer) => (taken += bytes.length))
  made.peer.say(packet)
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  expect([taken, made.held]).toEqual([0, 0])
  made.stream.startReading()
  await until(() => expect(taken).toBe(packet.length))
})
