import { expect, it } from 'vitest'
import { answering, waybridge } from '../support/cli.ts'

const TAKEN = { receiver: 'alerts.webhooks[0] (hooks.example)', format: 'slack', ok: true }
const REFUSED = {
  receiver: 'alerts.mail (mail.example)',
  format: 'mail',
  ok: false,
  reason: '535 wrong\u001b[31m password',
}

it.each([
  ['all take it', [TAKEN], 0],
  ['one does not', [TAKEN, REFUSED], 1],
])('alerts test says which receivers accepted the test if %s', async (_, results, exitCode) => {
  const server = await answering(() => ({ json: { ok: results.every(({ ok }) => ok), results } }))
  const { code, out } = await waybridge(['alerts', 'test', ...server.options])
  expect(code).toBe(exitCode)
  expect(server.asked).toMatchObject([{ method: 'POST', path: '/admin/alerts/test' }])
  const rows = out
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/))
  expect(rows).toEqual([
    ['RECEIVER', 'FORMAT', 'TEST'],
    ['alerts.webhooks[0] (hooks.example)', 'slack', 'taken'],
    ...(exitCode === 0 ? [] : [['alerts.mail (mail.example)', 'mail', 'not taken: 535 wrong [31m password']]),
  ])
})

it('alerts test says where to add a receiver if there is none', async () => {
  const server = await answering(() => ({ json: { ok: true, results: [] } }))
  const { code, out } = await waybridge(['alerts', 'test', ...server.options])
  expect([code, out]).toEqual([1, 'No receiver is configured: add one under alerts in gateway.yaml.\n'])
})
