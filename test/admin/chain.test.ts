import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { Conversation } from '../../src/gateway/conversation.ts'
import { HeardBook } from '../../src/gateway/heard.ts'
import { observations } from '../../src/observe/observations.ts'
import { adminFixture, hold, READ_TOKEN, store, TOKEN, withProcesses, workerOf } from '../support/admin.ts'
import { keepFrame } from '../support/kept-frames.ts'
import type { Treatment } from '../../src/store/device-record.ts'
import { HELD_LISTS, sweepHeld } from '../../src/store/index.ts'
import { UNFILTERED } from '../support/appending.ts'

const admin = adminFixture()
withProcesses(admin)
const VAN_14 = '356307042441014'

interface Chain {
  readonly sentence: string
  readonly broken: string | null
  readonly links: readonly { readonly link: string; readonly state: string; readonly evidence: readonly string[] }[]
  readonly findings: readonly { readonly code: string }[]
}

async function chainOf(device: string): Promise<Chain> {
  const { status, json } = await admin.ask(`/admin/devices/${device}/chain`)
  expect(status).toBe(200)
  return json as Chain
}

interface Speech {
  readonly at?: number
  /** Result of the message, with the reason. */
  readonly became?: readonly [Treatment, string]
  readonly isHeard?: boolean
}

async function speak(
  device: string,
  { at = Date.now(), became = ['routed', '7/43/2001'], isHeard = true }: Speech = {},
) {
  const heard = new HeardBook(admin.redis)
  if (isHeard)
    heard.of(device).spoke(Object.assign(new Conversation('udp', '10.1.2.3:40001'), { device, now: at }), 'teltonika')
  if (isHeard) heard.of(device).stored({ fix: { at, fix: { time: at, latitude: 52.5, longitude: 13.4, valid: true } } })
  heard.of(device).became(...became, at)
  await heard.close()
}

it('GET /admin/devices/{id}/chain has seven links, and the links before the waiting fixes are ok', async () => {
  await speak(VAN_14)
  const { broken, links, sentence } = await chainOf(VAN_14)
  expect([broken, links.map(({ state }) => state)]).toEqual([null, ['ok', 'ok', 'ok', 'ok', 'ok', 'idle', 'idle']])
  expect(sentence).toMatch(
    /^Van 14 is standing in Kreuzberg \(52\.50000, 13\.40000\), \d+ s ago, on route 2001 \(courier 43\);/,
  )
})

it('GET /admin/devices/{id}/chain is broken at identification if the secret of the device is wrong', async () => {
  await speak('0356307042441013', { isHeard: false, became: ['refused', 'wrong_secret'] })
  const { broken, sentence } = await chainOf('0356307042441013')
  expect(broken).toBe('identified')
  expect(sentence).toMatch(/it presents a wrong secret, or none: set the same secret in the device and in its entry/)
  expect(sentence).not.toMatch(/SIM|power/)
})

it.each(['suspicious', 'clock', 'no_route'] as const)(
  'GET /admin/devices/{id}/chain calls fixes with the reason %s held only until they are discarded',
  async (reason) => {
    await speak(VAN_14, { at: Date.now() - 5000 })
    const at = Date.now() - 2000
    const fix = { time: at, latitude: 52.5, longitude: 13.4, valid: true }
    const heard = new HeardBook(admin.redis)
    heard.of(VAN_14).spoke(Object.assign(new Conversation('udp', '10.1.2.3:40001'), { device: VAN_14, now: at }))
    heard.of(VAN_14).stored({ fix: { at, fix }, filtered: { at, reason, fix, held: true } })
    await heard.close()
    await hold(admin.redis, reason, VAN_14)
    const placed = async () => (await chainOf(VAN_14)).links[3]
    expect(await placed()).toMatchObject({
      state: 'broken',
      evidence: expect.arrayContaining([expect.stringContaining(`is held: ${reason}`)]),
    })
    const bounds = { maxFixesPerDevice: 100, maxFixesConfigured: 100, maxUnknownDevices: 100 }
    for (const lists of HELD_LISTS)
      await sweepHeld(
        admin.redis,
        { ...UNFILTERED, hold: bounds },
        { place: { lists, device: VAN_14 }, fate: () => ({ gone: 'discarded:held_age' }) },
      )
    expect(await placed()).toMatchObject({ state: 'ok' })
  },
)

it('GET /admin/devices/{id}/chain is broken at the connection if the device is silent on its route', async () => {
  await speak(VAN_14, { at: Date.now() - 400_000 })
  const { broken, findings } = await chainOf(VAN_14)
  expect([broken, findings.map(({ code }) => code)]).toEqual(['connected', ['silent']])
  await vi.waitFor(
    async () => {
      const { json } = await admin.ask(`/admin/findings?device=${VAN_14}`)
      expect(json).toMatchObject({
        results: [{ code: 'silent', message: 'nothing is heard of Van 14, on a route now' }],
      })
    },
    { timeout: 30_000 },
  )
  await speak(VAN_14)
  await vi.waitFor(
    async () => {
      const { json } = await admin.ask(`/admin/findings?device=${VAN_14}`)
      expect(json).toMatchObject({ results: [{ code: 'silent', ended_at: expect.any(String) }] })
    },
    { timeout: 30_000 },
  )
})

it('GET /admin/findings names which of two trackers of a van is silent', async () => {
  const file = join(admin.dir, 'devices.csv')
  await writeFile(file, 'device,name,company_id,courier_id,route_id\n10,Van 14,7,43,2001\n')
  onTestFinished(() => rm(file))
  await speak(VAN_14, { at: Date.now() - 400_000 })
  await speak('10')
  await expect
    .poll(async () => (await admin.ask(`/admin/findings?device=${VAN_14}`)).json, { timeout: 30_000 })
    .toMatchObject({
      results: [{ code: 'silent', message: `nothing is heard of Van 14 (${VAN_14}), on a route now` }],
    })
})

it('GET /admin/devices/{id}/chain suggests no similar id for a device whose own entry was deleted', async () => {
  const [own, alike] = ['356307042470152', '35630704270152']
  const file = join(admin.dir, 'devices.csv')
  await writeFile(file, `device,name,company_id,courier_id,route_id\n${own},Van 7,7,47,1\n${alike},Van 8,7,48,2\n`)
  onTestFinished(() => rm(file))
  const asked = async () => (await admin.ask(`/admin/devices/${own}`)).status
  await expect.poll(asked, { timeout: 30_000 }).toBe(200)
  await admin.ask(`/admin/devices/${own}`, { method: 'DELETE', headers: { authorization: `Bearer ${TOKEN}` } })
  await hold(admin.redis, 'unknown', own)
  const sentence = async () => (await chainOf(own)).sentence
  await expect.poll(sentence, { timeout: 30_000 }).toMatch(/it was deleted through the admin port: put it there again/)
  expect(await sentence()).not.toContain('is it Van 8')
})

it('GET /admin/devices does not call a device silent while its messages are refused', async () => {
  await speak(VAN_14, { at: Date.now() - 400_000 })
  observations.note('wrong_secret', { subject: { device: VAN_14 } })
  onTestFinished(() => observations.over(VAN_14, ['wrong_secret'], Infinity))
  await expect
    .poll(
      async () => {
        const { json } = await admin.ask(`/admin/devices?q=${VAN_14}`)
        return (json as { results: { findings: string[] }[] }).results[0].findings
      },
      { timeout: 30_000 },
    )
    .toEqual(['wrong_secret'])
})

it('GET /admin/devices/{id}/chain is broken at its last link if the API refuses the lane', async () => {
  await speak(VAN_14)
  await store(admin.redis, '7/43/2001', { count: 3 })
  const { leases, lease } = workerOf(admin.redis)
  await leases.park(await lease('7/43/2001'), { status: 404, message: 'no such route' })
  const { broken, links, sentence } = await chainOf(VAN_14)
  expect([broken, links[6].evidence]).toEqual(['accepted', ['refused 404: no such route', 'last push: 404']])
  expect(links[5].evidence).toEqual([expect.stringMatching(/^last push .*: 404$/)])
  expect(sentence).toMatch(/refused 404 by the service \(no such route\), 3 parked: correct the line$/)
})

it('GET /admin/devices/{id}/chain does not call all delivered while positions wait in the previous lane', async () => {
  const [before, after] = [Date.now() - 5000, Date.now() - 4000]
  await speak(VAN_14, { at: before, became: ['routed', '7/44/1999'] })
  await speak(VAN_14, { at: after })
  await store(admin.redis, '7/44/1999', { device: VAN_14, count: 3, receivedAt: before })
  const { sentence } = await chainOf(VAN_14)
  expect(sentence).toMatch(/, route 2001 by \S+, earlier ones wait on route 1999 since \d\d:\d\d:\d\d\S+$/)
})

it('GET /admin/devices/{id}/chain does not call all delivered while positions are parked in the lane of its previous courier', async () => {
  const [before, after] = [Date.now() - 5000, Date.now() - 4000]
  await speak(VAN_14, { at: before, became: ['routed', '7/44/1999'] })
  await speak(VAN_14, { at: after })
  await store(admin.redis, '7/44/1999', { device: VAN_14, count: 3, receivedAt: before })
  const { leases, lease } = workerOf(admin.redis)
  await leases.park(await lease('7/44/1999'), { status: 404, message: 'no such route' })
  const { sentence } = await chainOf(VAN_14)
  expect(sentence).toMatch(
    /, route 2001 by \S+, all delivered; earlier ones were refused 404 by the service \(no such route\), 3 parked on route 1999: correct the line$/,
  )
})

it('GET /admin/devices/{id}/chain ignores what other devices send to the previous lane', async () => {
  await speak(VAN_14, { at: Date.now() - 5000, became: ['routed', '7/44/1999'] })
  await speak(VAN_14, { at: Date.now() - 4000 })
  await store(admin.redis, '7/44/1999', { receivedAt: Date.now() - 3000 })
  expect((await chainOf(VAN_14)).sentence).toMatch(/, route 2001 by \S+, all delivered$/)
  const { leases, lease } = workerOf(admin.redis)
  await leases.park(await lease('7/44/1999'), { status: 404, message: 'no such route' })
  expect((await chainOf(VAN_14)).sentence).toMatch(/, route 2001 by \S+, all delivered$/)
})

it('GET /admin/devices/{id}/chain counts only the frames not understood in the protocol of the latest one', async () => {
  await speak(VAN_14)
  const [h02, gt06] = [Date.UTC(2026, 10, 20, 8, 1), Date.UTC(2026, 10, 20, 9, 2)]
  await keepFrame(admin.redis, VAN_14, { at: h02, protocol: 'h02', error: 'no time' })
  await keepFrame(admin.redis, VAN_14, { at: h02 + 1000, protocol: 'h02', error: 'no time' })
  await keepFrame(admin.redis, VAN_14, { at: gt06, protocol: 'gt06', error: 'a length of 3' })
  await keepFrame(admin.redis, VAN_14, { at: gt06 + 1000, protocol: 'gt06', error: 'a length of 4' })
  await keepFrame(admin.redis, VAN_14, { at: gt06 + 2000, protocol: 'h02', reason: 'unknown_type', kind: 'unknown' })
  const { links } = await chainOf(VAN_14)
  expect(links[1].evidence[0]).toMatch(
    /^2 frames of gt06 are not understood since .*09:02:00\S*, the decoder says "a length of 4"$/,
  )
})

it('GET /admin/devices/{id}/chain says that a device is not configured', async () => {
  await hold(admin.redis, 'unknown', '77', { count: 2 })
  expect(await chainOf('77')).toMatchObject({
    broken: 'identified',
    sentence: expect.stringMatching(
      /^77 is not configured; not configured, 2 fixes held since .*: add it to devices\.yaml$/,
    ),
  })
})

it('GET /admin/devices/{id}/chain says what is known, and that nothing is stored, while Redis hangs', async () => {
  await speak(VAN_14)
  expect((await chainOf(VAN_14)).broken).toBe(null)
  await admin.server.kill('SIGSTOP')
  try {
    const { broken, links, sentence, findings } = await chainOf(VAN_14)
    expect([broken, findings.map(({ code }) => code)]).toEqual(['stored', ['redis_down']])
    expect(links.map(({ state }) => state)).toEqual([...Array(4).fill('unknown'), 'broken', 'unknown', 'unknown'])
    expect(sentence).toMatch(
      /^Van 14 is standing in Kreuzberg \(52\.50000, 13\.40000\), \d+ s ago, on route 2001 \(courier 43\), but nothing can be stored; Redis does not answer/,
    )
    expect((await admin.ask('/admin/devices?q=van+14')).json).toMatchObject({ results: [{ id: VAN_14 }] })
    expect((await admin.ask('/admin/devices/4711/chain')).status).toBe(503)
  } finally {
    await admin.server.kill('SIGCONT')
  }
  await vi.waitFor(async () => expect((await chainOf(VAN_14)).broken).toBe(null), { timeout: 30_000 })
})

it('GET /admin/devices/{id}/chain answers 404 for an unknown device, and needs only a read token', async () => {
  expect((await admin.ask('/admin/devices/99/chain')).status).toBe(404)
  const headers = { authorization: `Bearer ${READ_TOKEN}` }
  expect((await admin.ask(`/admin/devices/${VAN_14}/chain`, { headers })).status).toBe(200)
})
