import { expect, it } from 'vitest'
import type { Protocol } from '../../protocols/kit/index.ts'
import type { Device } from '../../src/config/devices.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { custodyCounters, keys, type Store, readFrames, timestampOf } from '../../src/store/index.ts'
import { keepFrame } from '../support/kept-frames.ts'
import { talk, until } from '../support/listen.ts'
import { records } from '../support/records.ts'
import { redisGateway } from '../support/redis-gateway.ts'
import { createDirectory } from '../support/roster.ts'
import { withRedis } from '../support/with-redis.ts'

const OF_8: Device = { id: '0123', company_id: '8', courier_id: '42', source: 'devices.yaml:1' }
const OF_7: Device = { ...OF_8, company_id: '7', route_id: '1' }
const protocolNamed = async (): Promise<Protocol> => talk

let redis: Store
withRedis((_, connection) => (redis = connection))

/** A gateway with these devices, on which the device sends one fix after the other. */
async function gateway(devices: readonly Device[]) {
  const made = await redisGateway(redis, { devices, protocolNamed })
  const session = new Conversation('tcp', '127.0.0.1:1')
  return {
    ...made,
    async send() {
      const outcome = await made.ingest.take(Buffer.from('fixof 0123'), session, talk)
      expect(outcome).toMatchObject({ status: 'stored' })
      return Math.floor(session.now / 1000)
    },
    async change(device?: Device) {
      made.replica.version++
      made.replica.roster = await createDirectory(device ? [device] : [], [])
    },
  }
}

const laneOf7 = async () =>
  records(Buffer.concat(await redis.lrangeBuffer(keys.lane('7/42/1'), 0, -1))).map((record) => timestampOf(record))
const discarded = async () => (await custodyCounters(redis)).get('discarded:other_company') ?? 0

/** Waits until the clock shows another second, so that two fixes differ in it. */
async function nextSecond(): Promise<number> {
  const since = Math.floor(Date.now() / 1000)
  await until(() => expect(Math.floor(Date.now() / 1000)).toBeGreaterThan(since))
  return Date.now()
}

it.each([
  ['without a route', [OF_8]],
  ['for lack of a proof', [{ ...OF_8, secret: 'canary of 8' }]],
])(
  'discards fixes held %s when the device changes company, and stores later ones for the new company',
  async (_, devices) => {
    const all = await gateway(devices)
    await all.send()
    const companySince = await nextSecond()
    const later = await all.send()
    await all.change({ ...OF_7, companySince })
    all.release()
    await until(async () => expect(await laneOf7()).toEqual([later]))
    expect(await discarded()).toBe(1)
  },
)

it('keeps held fixes of a device without an entry, and stores them for its company once it has one again', async () => {
  const all = await gateway([OF_8])
  const held = await all.send()
  await all.change()
  const holding = all.release()
  await all.change({ ...OF_7, companySince: undefined })
  holding.rosterChanged(new Set(['123']))
  await until(async () => expect(await laneOf7()).toEqual([held]))
  expect(await discarded()).toBe(0)
})

it('stores held fixes of an unknown device for the first company that configures it', async () => {
  const all = await gateway([])
  const held = await all.send()
  await all.change(OF_7)
  all.release()
  await until(async () => expect(await laneOf7()).toEqual([held]))
})

it('discards a kept frame of a sender that was not accepted once its device has changed its company', async () => {
  const at = Date.now() - 10_000
  const frame = { at, company: undefined, protocol: 'talk', content: Buffer.from('fixof 0123') }
  await keepFrame(redis, '0123', frame)
  await keepFrame(redis, '0123', { ...frame, at: at + 5000 })
  const all = await gateway([{ ...OF_7, companySince: at + 1000 }])
  all.decodeAgain()
  await until(async () => expect(await readFrames(redis, { count: 10 })).toEqual([]))
  expect(await laneOf7()).toEqual([Math.floor((at + 5000) / 1000)])
})
