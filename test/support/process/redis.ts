/* Runs the private Redis of a folder until it is killed: node redis.ts DIR. */
import { startPrivateRedis } from '../../../src/process/redis.ts'

const redis = await startPrivateRedis(process.argv[2], 64 * 1024 * 1024)
console.error('ready')
await redis.exited
