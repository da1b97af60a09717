import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { connected, openBare } from '../support/admin.ts'
import { CLIENT, startProvider } from '../support/oidc.ts'
import { startTestRedis } from '../support/redis.ts'

it('a forged end of a sign-in is refused, and does not fill the log', async () => {
  const [server, provider] = [await startTestRedis(), await startProvider()]
  onTestFinished(() => server.stop())
  onTestFinished(() => provider.end())
  provider.open('http://127.0.0.1')
  const redis = await connected(server.url)
  onTestFinished(() => redis.disconnect())
  const log: string[] = []
  const { issuer } = provider
  const settings = { ...CLIENT, issuer, scopes: 'openid', groups_claim: 'groups', roles: {}, url: null }
  const logger = pino({}, { write: (line) => void log.push(line) })
  const admin = await openBare({ redis, logger, oidc: () => settings })
  onTestFinished(() => admin.close())
  const forged = { redirect: 'manual', headers: { cookie: 'waybridge-sign-in.x=a.b' } } as const
  const began = performance.now()
  for (let count = 0; count < 30; count++) {
    const url = `http://127.0.0.1:${admin.port}/admin/oidc/callback?state=x&code=canary-code`
    expect((await fetch(url, forged)).headers.get('location')).toBe('/#sign-in=failed')
  }
  const failures = log.filter((line) => line.includes('a sign-in failed'))
  expect(failures.length).toBeGreaterThan(0)
  expect(failures.length).toBeLessThanOrEqual(1 + (performance.now() - began) / 1000)
  expect(log.join('')).not.toContain('canary-code')
  expect(await redis.keys('*sign-in*')).toEqual([])
})
