import { afterAll, expect, it } from 'vitest'
import { adminFixture, TOKEN } from '../support/admin.ts'
import { webhookReceiver } from '../support/alerts.ts'

const receiver = await webhookReceiver()
afterAll(receiver.close)
adminFixture({
  gateway: `
admin: { port: 0, tokens: [${TOKEN}] }
alerts: { daily: { at: "${new Date(Date.now() - 60_000).toISOString().slice(11, 16)}", language: de }, webhooks: [{ url: "${receiver.url}", companies: [7] }] }`,
})

const reports = () =>
  receiver.posts
    .map(({ body }) => JSON.parse(body) as { change: string; message: string; routes: number })
    .filter(({ change }) => change === 'day')

it('the admin process sends the daily report to the receivers of gateway.yaml at its time', async () => {
  await expect.poll(() => reports().length, { timeout: 60_000 }).toBe(1)
  expect(reports()[0]).toMatchObject({
    company_id: '7',
    routes: 3,
    message: expect.stringMatching(/^Firma 7, .* 3 Touren, /),
  })
})
