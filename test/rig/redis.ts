import { createLogger } from '../../src/observe/log.ts'
import { keepRunning } from '../../src/process/keep-running.ts'
import { startPrivateRedis } from '../../src/process/redis.ts'
import { endOnRequest } from '../../src/process/signals.ts'

/**
 * The Redis of a run with several gateways: `redis.ts DATA_DIR MAX_MEMORY`. Kept running to the end of this process as `start`
 * keeps its private one, on the socket in its folder: that one would not do, since the gateway of a `start` that
 * has it knows of no other.
 */
const [dataDir, maxMemory] = [process.argv[2], Number(process.argv[3])]
const logger = createLogger('redis', { level: 'debug', format: 'json' })
const kept = keepRunning('redis', logger, (signal) => startPrivateRedis(dataDir, maxMemory, { signal }))
endOnRequest(kept.stop, (error) => {
  throw error
})
await kept.ready
