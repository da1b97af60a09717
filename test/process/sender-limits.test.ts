import { expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../src/config/schema.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { HeardBook } from '../../src/gateway/heard.ts'
import { createLogger } from '../../src/observe/log.ts'
import { openSenderLimits } from '../../src/process/roles/sender-limits.ts'
import { keys, type Store } from '../../src/store/index.ts'
import { until } from '../support/listen.ts'
import { withRedis } from '../support/with-redis.ts'

const VAN = '356307042441013'

let redis: Store
withRedis((_, store) => (redis = store))

/** Returns the guess limits of a gateway that has just started. */
function started() {
  const config = {
    limits: { max_connections: 10, max_connections_per_ip: 10, max_connections_per_device: 4 },
    hold: { max_unknown_devices: 10 },
    trusted_proxies: [],
  } as unknown as Config
  const { close, ofIdentity } = openSenderLimits(config, {
    redis,
    named: { role: 'gateway', installation: '/tmp/none' },
    gateways: 1,
    logger: createLogger('test', { level: 'fatal', format: 'json' }),
    rosterWritten: () => {},
  })
  onTestFinished(close)
  return ofIdentity.guesses
}

it('a van that was heard before a restart is not delayed by failed guesses of its secret in its network', async () => {
  const heard = new HeardBook(redis)
  heard.of(VAN).spoke(new Conversation('tcp', '192.0.2.7:1'), 'teltonika')
  await heard.close()
  const guesses = started()
  for (let tries = 0; tries < 20; tries++) for (const id of [VAN, 'other']) guesses.failed(id, '192.0.2.8', 0)
  await until(() => expect(guesses.isDelayed(VAN, '192.0.2.7', 1)).toBe(false))
  expect(guesses.isDelayed('other', '192.0.2.7', 1)).toBe(true)
})

it('an unreadable message of another gateway is ignored, and later ones count', async () => {
  const guesses = started()
  const guessed = JSON.stringify({ guessed: Array.from({ length: 20 }, () => ['other', '192.0.2.8']) })
  await until(async () => {
    for (const text of ['{', guessed]) await redis.publish(keys.gatewayChannel, `another\n${text}`)
    expect(guesses.isDelayed('other', '192.0.2.7')).toBe(true)
  })
})
