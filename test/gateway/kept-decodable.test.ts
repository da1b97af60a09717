import { describe, expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import { DecodeError, type Message, type Protocol } from '../../protocols/kit/index.ts'
import polte from '../../protocols/polte/index.ts'
import { describeFrame } from '../../src/gateway/frame-description.ts'
import { type SecretDigests, withoutSecret } from '../../src/roster/device-entry.ts'
import { keys, type Store } from '../../src/store/index.ts'
import { contentOf } from '../../src/store/misunderstood-frame.ts'
import { keepFrame } from '../support/kept-frames.ts'
import { type KnownFrame, knownFrames } from '../support/known-frames.ts'
import { until } from '../support/listen.ts'
import { heard } from '../support/own-frames.ts'
import { casesOf, post } from '../support/protocol-cases.ts'
import { redisGateway } from '../support/redis-gateway.ts'
import { withRedis } from '../support/with-redis.ts'

/* What is acknowledged must be decodable for as long as it is kept, although secrets are masked in it. */

const ENTRY = withoutSecret({ id: 'van-1', company_id: '7', secret: 'moss-owl-7', previous_secret: 'old-owl' })

describe('known frames that are kept', async () => {
  for (const protocol of await loadProtocols()) {
    const known = knownFrames(protocol, await casesOf(protocol.name))
    it(`decodes a kept frame of ${protocol.name} to the same message again`, () => {
      const differing = known.flatMap((each) =>
        [undefined, ENTRY].map((entry) => (isSameLater(protocol, each, entry) ? undefined : each.name)),
      )
      expect(differing.filter((name) => name !== undefined)).toEqual([])
    })
  }
})

function isSameLater(protocol: Protocol, { frame, session }: KnownFrame, entry: SecretDigests | undefined): boolean {
  const first = session()
  const { transport } = first
  const message = heard(protocol, frame, first)
  if (message instanceof DecodeError) return true
  const { device = first.device ?? 'van-1', secret } = message
  const about = { at: 1, device, protocol: protocol.name, transport, reason: 'not_read', entry } as const
  const kept = describeFrame({ ...about, content: frame, secrets: [secret] })
  // The mask of a short secret may hide anything.
  if (kept.masked === 'short') return true
  const again = Object.assign(session(), { lenient: first.lenient || kept.masked !== undefined })
  const late = heard(protocol, contentOf(kept), again)
  return !(late instanceof DecodeError) && JSON.stringify(saidBy(late)) === JSON.stringify(saidBy(message))
}

function saidBy({ device, fixes, none, unreadable }: Message): Partial<Message> {
  return { device, fixes, none, unreadable }
}

let redis: Store
withRedis((_, connection) => (redis = connection))

it('stores the fix of a kept frame for its device even if the secret is part of the id and masked there', async () => {
  const van = { id: 'car-1234', company_id: '7', secret: '1234' }
  const device = { ...van, courier_id: '42', route_id: '1', source: 'devices.yaml:1' }
  const gateway = await redisGateway(redis, { devices: [device], protocolNamed: async () => polte })
  const body = { ueToken: van.id, time: new Date().toISOString(), location: { latitude: 52, longitude: 13 } }
  const how = { protocol: polte.name, transport: 'http', entry: withoutSecret(van), secrets: ['1234'] } as const
  await keepFrame(redis, van.id, { ...how, content: post('/', JSON.stringify(body)) })
  gateway.decodeAgain()
  await until(async () => expect(await redis.hlen(keys.misunderstood('frames'))).toBe(0))
  expect(await redis.llen(keys.lane('7/42/1'))).toBe(1)
})
