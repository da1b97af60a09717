import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startPrivateRedis } from '../../src/process/redis.ts'
import { OF_FIRST_VERSION } from '../../src/store/format.ts'
import { connect, FORMAT, keys, openRedis, type Redis } from '../../src/store/index.ts'
import { freePorts } from '../support/free-ports.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'
import { processesOn, run, temporaryDir } from '../support/running.ts'

const CLI = fileURLToPath(new URL('../../src/cli/waybridge.mjs', import.meta.url))
const NEWER = FORMAT + 1
const SENTENCE =
  `The data in Redis are of a newer waybridge: their format is ${NEWER}, this version knows formats up to ${FORMAT}. ` +
  'Run the newer version; to go back, restore a backup that was made before the upgrade.\n'

async function site(redis: string): Promise<string> {
  const dir = await temporaryDir()
  const [admin, tracking, monitor] = await freePorts(3)
  const text = `
data_dir: ${JSON.stringify(join(dir, 'data'))}
redis: ${redis}
listeners: []
mqtt: { broker: null }
tracking: { listen: { host: 127.0.0.1, port: ${tracking} } }
admin: { port: ${admin} }
monitor: { port: ${monitor} }
log: { format: json }
`
  await writeFile(join(dir, 'gateway.yaml'), text)
  return dir
}

describe('data of another version', () => {
  let server: TestRedis
  let redis: Redis

  beforeAll(async () => {
    server = await startTestRedis()
    redis = connect(server.url, 'test')
    await new Promise((resolve) => redis.once('ready', resolve))
  })
  afterAll(async () => {
    redis.disconnect()
    await server.stop()
  })
  beforeEach(async () => void (await redis.flushall()))

  it.each(['gateway', 'worker', 'admin'])(
    'data of a newer version are refused by a %s with a sentence and exit code 1',
    async (role) => {
      await redis.set(keys.format, NEWER)
      const { ended, said } = run([CLI, role, '--config', await site(`{ url: "${server.url}" }`)])
      expect(await ended).toBe(1)
      expect(said()).toContain(SENTENCE)
      expect(await redis.smembers(keys.processIds)).toEqual([])
    },
  )

  it.each([
    ['a roster', async () => void (await redis.set(keys.firstRoster, '1795340141908'))],
    ['marks', async () => void (await redis.hset(keys.latestSpans, '356307042441013', '1'))],
  ])('data of version 0.1.0 are refused by %s that only it wrote, with what to do', async (_, writeFirst) => {
    await writeFirst()
    const { ended, said } = run([CLI, 'worker', '--config', await site(`{ url: "${server.url}" }`)])
    expect(await ended).toBe(1)
    expect(said()).toContain(OF_FIRST_VERSION)
  })

  it('a process ends when the data are upgraded to a newer version', async () => {
    const { ended, said } = run([CLI, 'worker', '--config', await site(`{ url: "${server.url}" }`)])
    await expect.poll(said).toContain('"msg":"ready"')
    await redis.set(keys.format, NEWER)
    expect(await ended).toBe(1)
    expect(said()).toContain(SENTENCE)
  })

  it('data of a newer version are refused by start, which leaves nothing running', async () => {
    const dir = await site('{ max_memory: 64mb }')
    const own = await startPrivateRedis(join(dir, 'data'), 64 * 2 ** 20)
    const data = openRedis(own.url, {})
    await data.set(keys.format, NEWER)
    data.disconnect()
    await own.stop()
    const { ended, said } = run([CLI, 'start', '--config', dir])
    expect(await ended).toBe(1)
    expect(said()).toContain(SENTENCE)
    expect(processesOn(dir)).toEqual([])
  })
})
