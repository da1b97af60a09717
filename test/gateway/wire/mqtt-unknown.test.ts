import { expect, it } from 'vitest'
import { type Gateway, gateway, refusals, SECRET, until } from '../../support/listen.ts'
import { client, listen, position, refusalOf } from '../../support/mqtt.ts'
import { connack, connect, puback, publish, pubrec, raw } from '../../support/mqtt-bytes.ts'

const held = () => gateway({ admitsUnknown: true })

/** Publishes as a device. Resolves to its answers and the places of its fixes once it is answered or disconnected. */
async function published(shared: Gateway, user: string, topic: string, payload = position()) {
  const peer = await raw((await listen(shared)).port)
  peer.say(connect({ user }))
  peer.say(publish({ topic, payload, qos: 1 }))
  await until(() => expect(peer.over || peer.hex.includes(puback(1))).toBe(true))
  return { heard: peer.hex, places: shared.places }
}

it.for([
  ['nobody', 'devices/nobody/fix', 'unknown nobody'],
  ['0099', 'devices/99/fix', 'unknown 99'],
  ['99', 'devices/0099/fix', 'unknown 99'],
  ['__proto__', 'devices/__proto__/fix', 'unknown __proto__'],
])('holds the fix that the unknown device %s publishes over MQTT to %s', async ([user, topic, place]) => {
  expect(await published(held(), user, topic)).toEqual({ heard: connack(0) + puback(1), places: [place] })
})

it('accepts an MQTT frame in which an unknown device names itself', async () => {
  const { places } = await published(held(), '0099', 'devices/99/talk', 'fixof 099')
  expect(places).toEqual(['unknown 99'])
})

it.for(['van-1', 'somebody'])('ends the MQTT connection of an unknown device that publishes as %s', async (other) => {
  const refused = await refusals('other_device')
  expect(await published(held(), 'nobody', `devices/${other}/fix`)).toEqual({ heard: connack(0), places: [] })
  expect(await refused()).toBe(1)
})

it.for(['van-1', 'somebody'])(
  'ends the MQTT connection of an unknown device that names %s in a frame',
  async (other) => {
    const refused = await refusals('other_device')
    const { heard, places } = await published(held(), 'nobody', 'devices/nobody/talk', `fixof ${other}`)
    expect([heard, places, await refused()]).toEqual([connack(0), [], 1])
  },
)

it('ends an MQTT connection whose frame names an unknown device', async () => {
  const { heard, places } = await published(held(), 'van-1', 'devices/van-1/talk', 'fixof somebody')
  expect([heard, places]).toEqual([connack(0), []])
})

it('refuses an MQTT login without a user name', async () => {
  const { port } = await listen(held())
  expect(await refusalOf(port, { username: undefined })).toBe(5)
  expect(await refusalOf(port, { username: '' })).toBe(5)
})

it('keeps no MQTT session of an unknown device, and stores a repeated message again', async () => {
  const shared = held()
  const { port } = await listen(shared)
  for (let time = 0; time < 2; time++) {
    const peer = await raw(port)
    peer.say(connect({ user: 'nobody', clean: false }))
    peer.say(publish({ topic: 'devices/nobody/fix', payload: position(), qos: 2, messageId: 7 }))
    await until(() => expect(peer.hex).toBe(connack(0) + pubrec(7)))
    peer.socket.destroy()
  }
  expect(shared.places).toEqual(['unknown nobody', 'unknown nobody'])
})

it('sends PUBACK to an unknown device for a payload that is not understood, and keeps it', async () => {
  const shared = held()
  const { port } = await listen(shared)
  const van = await client(port, { username: 'nobody' })
  await van.publishAsync('devices/nobody/fix', 'garbage', { qos: 1 })
  expect(shared.frames.map(({ device, company }) => [device, company])).toEqual([['nobody', undefined]])
  expect(shared.places).toEqual([])
})

it('keeps a payload of a device that did not present its secret under no company, and sends PUBACK', async () => {
  const shared = held()
  const { port } = await listen(shared)
  const van = await client(port, { username: 'locked' })
  await van.publishAsync('devices/locked/fix', 'garbage', { qos: 1 })
  await van.publishAsync('devices/locked/fix', position(), { qos: 1 })
  expect(shared.frames.map(({ device, company }) => [device, company])).toEqual([['locked', undefined]])
  expect(shared.places).toEqual(['unknown locked'])
})

it('keeps the MQTT connection of an unknown device once it is configured', async () => {
  const shared = held()
  const van = await client((await listen(shared)).port, { username: '99' })
  await van.publishAsync('devices/99/fix', position(), { qos: 1 })
  await shared.configure({ id: '0099', company_id: '7', courier_id: '9', route_id: '9', source: 'devices.yaml:5' })
  await van.publishAsync('devices/99/fix', position(), { qos: 1 })
  expect(shared.places).toEqual(['unknown 99', '7/9/9'])
})

it('still holds the fixes of a device that is configured with a secret it has not presented', async () => {
  const shared = held()
  const { port } = await listen(shared)
  const van = await client(port, { username: '99' })
  await van.publishAsync('devices/99/fix', position(), { qos: 1 })
  const ids = { id: '99', company_id: '7', courier_id: '9', route_id: '9' }
  await shared.configure({ ...ids, source: 'devices.yaml:5', secret: SECRET })
  await van.publishAsync('devices/99/fix', position(), { qos: 1 })
  const again = await client(port, { username: '99', password: SECRET })
  await again.publishAsync('devices/99/fix', position(), { qos: 1 })
  expect(shared.places).toEqual(['unknown 99', 'unknown 99', '7/9/9'])
})

it('refuses an unknown device with a password over MQTT', async () => {
  const refused = await refusals('unknown_device')
  const { port } = await listen(held())
  expect(await refusalOf(port, { username: 'nobody', password: 'guess' })).toBe(5)
  expect(await refused()).toBe(1)
})
