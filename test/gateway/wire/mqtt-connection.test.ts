import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { openServer } from '../../../src/gateway/wire/listener.ts'
import { MqttConnection } from '../../../src/gateway/wire/mqtt-connection.ts'
import { gateway, type Peer, until } from '../../support/listen.ts'
import { publish, raw } from '../../support/mqtt-bytes.ts'

/** A connection that the broker does not read yet. */
async function connected(): Promise<{ connection: MqttConnection; peer: Peer }> {
  const server = createServer()
  onTestFinished(() => void server.close())
  const shared = gateway({ limits: { max_frame_bytes: 1_000_000 } })
  const { port } = await openServer({ server, sockets: {}, logger: shared.logger }, { host: '127.0.0.1', port: 0 })
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const peer = await raw(port)
  const [socket] = await accepted
  return { connection: new MqttConnection(shared, socket, { address: '127.0.0.1', port: 1 }), peer }
}

const packet = publish({ topic: 't', payload: 'x'.repeat(100), qos: 0 })

it('an MQTT connection counts the bytes that the broker has not read, and no others', async () => {
  const { connection, peer } = await connected()
  peer.say(packet)
  await until(() => expect(connection.readableLength).toBe(packet.length))
  expect(connection.read()).toEqual(packet)
  peer.say(packet)
  await until(() => expect(connection.readableLength).toBe(packet.length))
  connection.destroy()
  await once(connection, 'close')
  expect(connection.partialBytes).toBe(0)
})

it('an MQTT connection counts each chunk of an incomplete packet until it is complete', async () => {
  const { connection, peer } = await connected()
  connection.on('readable', () => connection.read())
  for (const [index, byte] of packet.subarray(0, 20).entries()) {
    peer.say(Buffer.of(byte))
    await until(() => expect(connection.partialBytes).toBe((index + 1) * 201))
  }
  peer.say(packet.subarray(20))
  await until(() => expect(connection.partialBytes).toBe(0))
  peer.say(packet.subarray(0, 50))
  await until(() => expect(connection.partialBytes).toBe(250))
  connection.destroy()
  await until(() => expect(connection.partialBytes).toBe(0))
})

it('an MQTT connection reads the socket no faster than the broker reads', async () => {
  const { connection, peer } = await connected()
  Object.assign(connection.session, { device: 'van-1' })
  const much = Buffer.concat(Array.from({ length: 25_000 }, () => packet))
  peer.say(much)
  await until(() => expect(connection.readableLength).toBeGreaterThan(0))
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  expect(connection.readableLength).toBeLessThanOrEqual(65_536)
  let taken = 0
  connection.on('data', (bytes: Buffer) => (taken += bytes.length))
  await until(() => expect(taken).toBe(much.length))
})

it('an MQTT connection reads nothing while reading is stopped', async () => {
  const { connection, peer } = await connected()
  connection.stopReading()
  let taken = 0
  connection.on('data', (bytes: Buffer) => (taken += bytes.length))
  peer.say(packet)
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  expect([taken, connection.partialBytes]).toEqual([0, 0])
  connection.startReading()
  await until(() => expect(taken).toBe(packet.length))
})
