import { SentinelConnector } from 'ioredis'
import { expect, it } from 'vitest'
import { LastingConnector } from '../../src/redis/lasting-connector.ts'

const OPTIONS = { sentinels: [{ host: '127.0.0.1', port: 1 }], name: 'main', sentinelRetryStrategy: () => null }

it('a connector of ioredis has its watch in `failoverDetector`, and ends it when it disconnects', () => {
  const connector = new SentinelConnector(OPTIONS)
  expect(connector, 'what src/redis/lasting-connector.ts replaces in ioredis').toHaveProperty('failoverDetector', null)
  expect(endings(connector, () => connector.disconnect())).toBe(1)
})

it('a search for the primary ends the watch of the previous connection once, and drops it', async () => {
  const connector = new LastingConnector(OPTIONS)
  const look = () => void connector.connect(() => {}).catch(() => {})
  expect(endings(connector, look)).toBe(1)
  expect(connector).toHaveProperty('failoverDetector', null)
})

/** Returns how often a connector ends its watch during `work`. */
function endings(connector: SentinelConnector, during: () => void): number {
  let ended = 0
  Object.assign(connector, { failoverDetector: { cleanup: () => ended++ } })
  during()
  return ended
}
