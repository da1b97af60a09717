import { createSocket } from 'node:dgram'
import { expect, it, onTestFinished } from 'vitest'
import gt06 from '../../../protocols/gt06/index.ts'
import { Flood, inNetwork } from '../../../src/gateway/admit/flood.ts'
import { listenUdp } from '../../../src/gateway/wire/udp.ts'
import { bytes, gt06Frame } from '../../support/encode.ts'
import { count, gateway, open, refusals, until } from '../../support/listen.ts'

const DEVICE = '8168000008'
const LOGIN = gt06Frame(0x01, bytes('0000008168000008'))
/** Its answer is a heartbeat, too. */
const HEARTBEAT = gt06Frame(0x13, bytes('4504030001'))

/** Two gateways that take each other for a device, as if an attacker had forged the addresses of their datagrams. */
async function twoGateways() {
  const shared = [gateway({ flood: new Flood(() => 0) }), gateway({ flood: new Flood(() => 0) })]
  const listeners = await Promise.all(
    shared.map((each) => open(listenUdp({ host: '127.0.0.1', port: 0, protocol: gt06 }, each))),
  )
  const sockets = await Promise.all(shared.map(() => boundSocket()))
  const forge = (to: number, datagram: Buffer) => sockets[to].send(datagram, listeners[to].port, '127.0.0.1')
  let exchanged = 0
  for (const [index, socket] of sockets.entries())
    socket.on('message', (reply: Buffer) => {
      exchanged++
      forge(1 - index, reply)
    })
  return { shared, forge, exchanged: () => exchanged }
}

async function boundSocket() {
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return socket
}

it('two gateways do not answer each other for one forged datagram', async () => {
  const frames = await count('frames_total', { transport: 'udp' })
  const { forge, exchanged } = await twoGateways()
  forge(0, HEARTBEAT)
  forge(1, LOGIN)
  await until(async () => expect((await count('frames_total', { transport: 'udp' })) - frames).toBe(3))
  expect(exchanged()).toBe(1)
})

it('two gateways that take each other for a device stop answering when the share of the device is used up', async () => {
  const refused = await refusals('flood')
  const { shared, forge, exchanged } = await twoGateways()
  for (const { flood } of shared) flood.take('device', inNetwork(DEVICE, '127.0.0.0/24', true), 29_900)
  forge(0, LOGIN)
  forge(1, LOGIN)
  await until(() => expect(exchanged()).toBe(2))
  forge(0, HEARTBEAT)
  await until(async () => expect(await refused()).toBe(1))
  expect(exchanged()).toBeGreaterThan(100)
  expect(exchanged()).toBeLessThan(210)
})
