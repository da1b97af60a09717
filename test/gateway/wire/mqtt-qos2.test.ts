import { expect, it } from 'vitest'
import { type Gateway, gateway, until } from '../../support/listen.ts'
import { listen, position, TOPIC } from '../../support/mqtt.ts'
import { connack, connect, pubcomp, publish, pubrec, pubrel, raw } from '../../support/mqtt-bytes.ts'

const message = { topic: TOPIC, payload: position(), qos: 2, messageId: 7 } as const
const login = connect({ user: 'van-1', clean: false })

async function start(shared: Gateway) {
  const { port } = await listen(shared)
  const peer = await raw(port)
  peer.say(login)
  await until(() => expect(peer.hex).toBe(connack(0)))
  return { port, peer }
}

it('stores a repeated QoS 2 message that could not be stored before', async () => {
  const shared = gateway()
  const { port, peer } = await start(shared)
  shared.store = 'fails'
  peer.say(publish(message))
  await until(() => expect(peer.over).toBe(true))
  expect(peer.hex).toBe(connack(0))
  shared.store = 'takes'
  const again = await raw(port)
  again.say(login)
  again.say(publish({ ...message, dup: true }))
  await until(() => expect(again.hex).toBe(connack(0) + pubrec(7)))
  expect(shared.stored).toHaveLength(1)
})

it('answers PUBREL with PUBCOMP, whether or not it knows the message', async () => {
  const { peer } = await start(gateway())
  peer.say(publish(message))
  await until(() => expect(peer.hex).toBe(connack(0) + pubrec(7)))
  peer.say(pubrel(7))
  await until(() => expect(peer.hex).toBe(connack(0) + pubrec(7) + pubcomp(7)))
  peer.say(pubrel(8))
  await until(() => expect(peer.hex).toBe(connack(0) + pubrec(7) + pubcomp(7) + pubcomp(8)))
})

it('accepts any number of QoS 2 messages that are never released', async () => {
  const shared = gateway()
  const { peer } = await start(shared)
  for (let messageId = 1; messageId <= 2500; messageId++) peer.say(publish({ ...message, messageId }))
  await until(() => expect(peer.hex).toHaveLength(8 * 2501))
  expect([shared.stored.length, peer.over]).toEqual([2500, false])
})
