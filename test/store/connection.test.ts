import { expect, it } from 'vitest'
import { connect, isConnectionError } from '../../src/store/index.ts'
import { startTestRedis } from '../support/redis.ts'

it('recognises by its error a command that fails because Redis was killed', async () => {
  const server = await startTestRedis()
  const redis = connect(server.url, 'test')
  await new Promise((resolve) => redis.once('ready', resolve))
  const failures: Error[] = []
  const ask = () => void redis.ping().catch((error: Error) => failures.push(error))
  for (let n = 0; n < 100; n++) ask()
  await server.kill('SIGKILL')
  await expect
    .poll(
      () => {
        ask()
        return new Set(failures.map(({ message }) => message)).size
      },
      { timeout: 30_000 },
    )
    .toBeGreaterThan(0)
  ask()
  await expect.poll(() => failures.length).toBeGreaterThan(1)
  expect(failures.filter((error) => !isConnectionError(error))).toEqual([])
  redis.disconnect()
  await server.stop()
})
