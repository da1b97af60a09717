import { expect, it, onTestFinished } from 'vitest'
import { protocolPorts } from '../../protocols/index.ts'
import type { Role } from '../../src/process/role.ts'
import { startGateway } from '../../src/process/roles/gateway.ts'
import { followConfig } from '../../src/process/roles/live.ts'
import { setEnrolment } from '../../src/store/enrolment.ts'
import { custodyCounters, surveyHeld } from '../../src/store/index.ts'
import { adminFixture, READ_TOKEN, TOKEN } from '../support/admin.ts'
import { waybridge } from '../support/cli.ts'

const admin = adminFixture({
  gateway: `
admin: { port: 0, tokens: [${TOKEN}, { token: ${READ_TOKEN}, role: read }] }
hold: { unknown: false }
listeners: [{ transport: http, protocol: osmand, port: 0, host: 127.0.0.1 }]
mqtt: { broker: null }
`,
})
const soon = { timeout: 30_000 }
const INSTANT = expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:.]{12}Z$/) as string

async function gateway(): Promise<Role> {
  const live = await followConfig({ dir: admin.dir, protocols: protocolPorts, role: 'gateway', followsFiles: true })
  const role = await startGateway(live, { redisServer: admin.server.url, ports: {} })
  onTestFinished(() => role.close())
  return role
}

it('the enrolment window admits unconfigured devices while it is open, and their fixes stay held', async () => {
  const { ports } = await gateway()
  const sends = async () => (await fetch(`http://127.0.0.1:${ports?.['http/osmand']}/?id=new-1&lat=50&lon=8`)).status
  await expect.poll(sends, soon).toBe(403)
  expect((await admin.ask('/admin/enrolment?for=30m', { method: 'POST' })).json).toEqual({
    open: true,
    until_at: INSTANT,
  })
  await expect.poll(sends, soon).toBe(200)
  expect((await admin.ask('/admin/enrolment', { method: 'DELETE' })).json).toEqual({ open: false })
  await expect.poll(sends, soon).toBe(403)
  const held = async () =>
    (await Array.fromAsync(surveyHeld(admin.redis))).map(({ reason, device }) => [reason, device])
  expect(await held()).toEqual([['unknown', 'new-1']])
  expect((await custodyCounters(admin.redis)).get('filtered:clock')).toBeUndefined()
})

it('the enrolment window is a finding while it is open', async () => {
  await gateway()
  await setEnrolment(admin.redis, 60_000)
  const codes = async () => {
    const { json } = await admin.ask('/admin/status')
    return (json as { findings: { code: string; severity: string }[] }).findings
  }
  const open = expect.objectContaining({ code: 'enrolment_open', severity: 'info' })
  await expect.poll(codes, soon).toContainEqual(open)
})

it('the enrolment window closes by itself, because Redis keeps its end', async () => {
  await setEnrolment(admin.redis, 1000)
  await expect.poll(async () => (await admin.ask('/admin/enrolment')).json, soon).toEqual({ open: false })
})

it.for(['', '?for=', '?for=30', '?for=25h', '?for=0s', '?for=x'])(
  'the enrolment window does not open for "%s"',
  async (query) => {
    const { status, json } = await admin.ask(`/admin/enrolment${query}`, { method: 'POST' })
    expect([status, (json as { message: string }).message]).toEqual([
      422,
      'for: expected a duration such as 30m, at least 1s and at most 24h',
    ])
    expect((await admin.ask('/admin/enrolment')).json).toEqual({ open: false })
  },
)

it('the enrolment window does not open for a token that may only read, and is audited', async () => {
  const headers = { authorization: `Bearer ${READ_TOKEN}` }
  expect((await admin.ask('/admin/enrolment?for=30m', { method: 'POST', headers })).status).toBe(403)
  expect((await admin.ask('/admin/enrolment', { headers })).status).toBe(200)
  await admin.ask('/admin/enrolment?for=30m', { method: 'POST' })
  expect((await admin.ask('/admin/audit')).json).toMatchObject({
    results: [{ operation: '/admin/enrolment', status: 200, summary: { seconds: 1800 } }],
  })
})

it('the command line opens, shows and closes the enrolment window', async () => {
  const args = ['--url', admin.url, '--token', TOKEN]
  const enrol = async (...more: string[]) => waybridge(['enrol', ...more, ...args])
  expect(await enrol()).toMatchObject({ code: 0, out: expect.stringMatching(/^closed: /) as string })
  expect(await enrol('--for', '30m')).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /^open until (\S+ )?\d\d:\d\d:\d\dZ: devices that are not configured are admitted/,
    ) as string,
  })
  expect(await enrol('--for', '3 days')).toMatchObject({
    code: 1,
    errors: expect.stringContaining('such as 30m') as string,
  })
  expect(await enrol('--stop')).toMatchObject({ code: 0, out: expect.stringMatching(/^closed: /) as string })
})
