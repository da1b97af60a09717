import { afterAll, expect, it } from 'vitest'
import { observations } from '../../src/observe/observations.ts'
import { adminFixture, READ_TOKEN, TOKEN } from '../support/admin.ts'
import { webhookReceiver } from '../support/alerts.ts'

const failing = { status: 404 }
const [one, other] = await Promise.all([
  webhookReceiver((response) => response.writeHead(failing.status).end('no_service')),
  webhookReceiver(),
])
afterAll(() => [one, other].forEach(({ close }) => close()))
const SEVEN = 'canary-seven-token'
const admin = adminFixture({
  gateway: `
admin: { port: 0, tokens: [${TOKEN}, { token: ${READ_TOKEN}, role: read }, { token: ${SEVEN}, companies: [7] }] }
alerts:
  webhooks:
    - { url: "${one.url}/services/canary-path-of-slack", format: slack, companies: [7] }
    - { url: "${other.url}" }`,
})
const soon = { timeout: 40_000 }
const host = new URL(one.url).host
const RECEIVER = `alerts.webhooks[0] (${host})`

async function failed() {
  const { json } = await admin.ask('/admin/findings')
  return (json as { results: { code: string; ended_at?: string }[] }).results.filter(
    ({ code }) => code === 'alert_failed',
  )
}

function test(token: string) {
  return admin.ask('/admin/alerts/test', { method: 'POST', headers: { authorization: `Bearer ${token}` } })
}

it('a failing receiver is a finding for the others until it succeeds, without its secret path', async () => {
  observations.note('claimed_twice', { subject: { device: '356307042441014' }, evidence: 'two places' })
  await expect.poll(failed, soon).toMatchObject([
    {
      severity: 'warning',
      subject: { receiver: RECEIVER },
      message: `${RECEIVER} is not told of findings`,
      evidence: ['it answers 404: no_service'],
    },
  ])
  const told = () => other.posts.map(({ body }) => JSON.parse(body) as { code: string; change: string })
  await expect.poll(told, soon).toContainEqual(expect.objectContaining({ code: 'alert_failed', change: 'begins' }))
  const results = [{ receiver: RECEIVER, format: 'slack', ok: false, reason: 'it answers 404: no_service' }]
  expect((await test(SEVEN)).json).toEqual({ ok: false, results })
  const german = { authorization: `Bearer ${TOKEN}`, 'accept-language': 'de' }
  expect((await admin.ask('/admin/findings', { headers: german })).text).toContain('er antwortet 404: no_service')

  failing.status = 200
  expect((await test(TOKEN)).json).toMatchObject({
    ok: true,
    results: [{ receiver: RECEIVER }, { format: 'waybridge' }],
  })
  await expect.poll(failed, soon).toMatchObject([{ ended_at: expect.any(String) }])
  await expect.poll(told, soon).toContainEqual(expect.objectContaining({ code: 'alert_failed', change: 'ends' }))
  await expect.poll(() => one.posts.map(({ body }) => body).join(), soon).toContain('Van 14')
  const audit = (await admin.ask('/admin/audit')).text
  expect(audit).toContain('"summary":{"tested":2,"failed":0}')
  const shown = [
    audit,
    JSON.stringify(other.posts),
    (await admin.ask('/admin/findings')).text,
    (await admin.ask('/metrics')).text,
  ]
  expect(shown.join('')).not.toContain('canary-path')
  // The failing receiver is not told of its own failure either.
  expect(JSON.stringify(one.posts)).not.toContain('is not told')
})

it('testing a receiver needs the role operate', async () => {
  const before = one.posts.length
  expect((await test(READ_TOKEN)).status).toBe(403)
  expect((await test('canary-unknown')).status).toBe(401)
  expect(one.posts).toHaveLength(before)
})
