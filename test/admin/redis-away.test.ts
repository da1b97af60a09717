import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { connect } from '../../src/store/index.ts'
import { openBare, READ } from '../support/admin.ts'
import { startTestRedis } from '../support/redis.ts'

const NO_CONNECTION = /^there is no connection to Redis: connect E/

it('the admin port opens while Redis is down, says so, and leaves out what it does not know', async () => {
  const server = await startTestRedis()
  await server.kill('SIGKILL')
  const redis = connect(server.url, 'test')
  const admin = await openBare({ redis, logger: pino({ level: 'silent' }) })
  onTestFinished(async () => {
    await admin.close()
    redis.disconnect()
    await server.stop()
  })
  const ask = async () => {
    const answer = await fetch(`http://127.0.0.1:${admin.port}/admin/status`, { headers: READ })
    return { status: answer.status, json: (await answer.json()) as object }
  }
  await expect.poll(ask).toMatchObject({
    status: 200,
    json: {
      verdict: expect.stringMatching(/^Redis does not answer/),
      findings: [{ code: 'redis_down', severity: 'error', evidence: [expect.stringMatching(NO_CONNECTION)] }],
    },
  })
  const known = Object.keys((await ask()).json)
  expect(known).not.toContain('waiting')
  expect(known).toContain('vans')
})
