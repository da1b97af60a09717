import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { protocolPorts } from '../../protocols/index.ts'
import { Capacity } from '../../src/gateway/acceptance.ts'
import { Arrivals } from '../../src/gateway/arrivals.ts'
import { DayBook } from '../../src/gateway/day-book.ts'
import { Holding } from '../../src/gateway/holding.ts'
import { startGateway } from '../../src/process/roles/gateway.ts'
import { followConfig } from '../../src/process/roles/live.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

let server: TestRedis
withRedis((started) => (server = started))

async function gateway() {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-shutdown-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const yaml = `
redis: { url: "${server.url}" }
data_dir: "${join(dir, 'data')}"
companies: [{ company_id: 7, apikey: key }]
listeners: []
mqtt: { broker: null }
log: { level: fatal }
`
  await writeFile(join(dir, 'gateway.yaml'), yaml)
  const live = await followConfig({ dir, protocols: protocolPorts, role: 'gateway', followsFiles: true })
  return startGateway(live, { redisServer: server.url, ports: {} })
}

/** Records the steps of a shutdown in order. */
function recordedSteps(): string[] {
  const steps: string[] = []
  const close = DayBook.prototype.close
  vi.spyOn(DayBook.prototype, 'close').mockImplementation(function (this: DayBook) {
    steps.push('last writes')
    return close.call(this)
  })
  onTestFinished(() => void vi.restoreAllMocks())
  return steps
}

it('a shutdown does not wait for a job that only reads', async () => {
  const steps = recordedSteps()
  const looked = vi.spyOn(Capacity.prototype, 'look').mockReturnValue(new Promise(() => {}))
  const role = await gateway()
  expect(looked).toHaveBeenCalled()
  await role.close()
  expect(steps).toEqual(['last writes'])
})

it('a shutdown waits for a job that writes before the last writes', async () => {
  const steps = recordedSteps()
  const write = Promise.withResolvers<void>()
  const wrote = vi.spyOn(Arrivals.prototype, 'write').mockReturnValue(write.promise)
  const released = vi.spyOn(Holding.prototype, 'close')
  const role = await gateway()
  expect(wrote).toHaveBeenCalled()
  const closed = role.close()
  await expect.poll(() => released).toHaveResolved()
  await setImmediate()
  steps.push('the job ends')
  write.resolve()
  await closed
  // On a busy machine the process may not wait for them any more.
  await expect.poll(() => steps).toEqual(['the job ends', 'last writes'])
})
