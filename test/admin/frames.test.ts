import { afterEach, describe, expect, it } from 'vitest'
import type { Protocol } from '../../protocols/kit/index.ts'
import { WatchedFrames } from '../../src/gateway/watched-frames.ts'
import { beating } from '../support/beat.ts'
import { adminFixture, READ_TOKEN } from '../support/admin.ts'
import { at, gateway, type IngestSetup, van } from '../support/ingest.ts'
import { keepFrame } from '../support/kept-frames.ts'
import { talk } from '../support/listen.ts'
import { createDirectory } from '../support/roster.ts'

const admin = adminFixture()
const TIME = Date.UTC(2026, 10, 20, 9)
const ID = van.id
const UNKNOWN = '356307042441099'

interface Frames {
  readonly watched_until_at?: string
  readonly results: readonly Record<string, unknown>[]
}

const framesOf = async (id = ID, query = '') => (await admin.ask(`/admin/devices/${id}/frames${query}`)).json as Frames

const watch = (id = ID, token?: string) =>
  admin.ask(`/admin/devices/${id}/watch`, {
    method: 'POST',
    ...(token && { headers: { authorization: `Bearer ${token}` } }),
  })

let watchedFrames: WatchedFrames | undefined
afterEach(() => watchedFrames?.close())

/** A gateway that knows which devices are watched. */
async function watchingGateway(setup: IngestSetup = {}) {
  const roster = await createDirectory(setup.devices ?? [], [])
  const watching = (watchedFrames = beating(new WatchedFrames(admin.redis, { roster }), (each) => each.look()))
  await expect.poll(() => watching.isIdle).toBe(false)
  return gateway({ ...setup, watchedFrames: watching })
}

describe('the frames of a watched device', () => {
  it('the frames of a watched device show their bytes, what was read from them, and the answer', async () => {
    const { status, json } = await watch()
    expect(status).toBe(200)
    const until = Date.parse((json as { until_at: string }).until_at)
    expect(until - Date.now()).toBeGreaterThan(890_000)
    const { say, session } = await watchingGateway()
    Object.assign(session, { port: 5027 })
    const message = { device: ID, fixes: [at(TIME, { speed: 10 })], reply: 'ok' }
    await say(message)
    await expect
      .poll(async () => (await framesOf()).results)
      .toEqual([
        {
          at: expect.any(String),
          transport: 'tcp',
          port: 5027,
          remote: '127.0.0.1:1',
          protocol: 'spoken',
          bytes: Buffer.from(JSON.stringify(message)).toString('hex'),
          size: JSON.stringify(message).length,
          text: JSON.stringify(message),
          fixes: [{ time: '2026-11-20T09:00:00.000Z', lat: 52.5, lon: 13.4, valid: true, speed: 10 }],
          fix_count: 1,
          reply: Buffer.from('ok').toString('hex'),
        },
      ])
    expect((await framesOf()).watched_until_at).toBe(new Date(until).toISOString())
  })

  it('the frames of a watched device do not end the process if one cannot be kept', async () => {
    await watch()
    const { ingest, say, session } = await watchingGateway()
    const faulty = {
      ...talk,
      decode: () => ({ device: ID, fixes: [Object.assign(at(TIME), { count: 1n })] }),
    } satisfies Protocol
    expect(await ingest.take(Buffer.from('x'), session, faulty)).toMatchObject({ status: 'stored' })
    await say({ device: ID, fixes: [at(TIME)] })
    await expect.poll(async () => (await framesOf()).results.length).toBe(1)
  })

  it('the frames of a watched device show why they were not understood, refused or not stored, and no secret', async () => {
    await watch()
    const guarded = { ...van, secret: 'canary-secret' }
    const { say, session, state } = await watchingGateway({ devices: [guarded] })
    await say({ device: ID, secret: 'canary-wrong', fixes: [at(TIME)] })
    await say({ device: ID, secret: 'canary-secret', fixes: [at(TIME)] })
    await say({ fault: 'decode', secret: 'canary-secret' })
    state.fails = true
    await say({ fixes: [at(TIME)] })
    await expect.poll(async () => (await framesOf()).results.length).toBe(4)
    const { results } = await framesOf()
    expect(results.map(({ error }) => error)).toEqual([
      'not stored: redis',
      'the checksum does not match',
      undefined,
      'refused: wrong_secret',
    ])
    expect(session.device).toBe(ID)
    expect(JSON.stringify(results)).not.toContain('canary')
    expect(JSON.stringify(results)).not.toContain(Buffer.from('canary').toString('hex'))
  })

  it('the frames of a watched device show no secret of the device, even if it was not presented as one', async () => {
    await watch()
    const { say } = await watchingGateway({ devices: [{ ...van, secret: 'moss-owl-7' }] })
    await say({ device: ID, fixes: [at(TIME)], word: 'moss-owl-7' })
    await expect.poll(async () => (await framesOf()).results.length).toBe(1)
    expect((await framesOf()).results[0]).toMatchObject({ text: expect.stringContaining('"word":"**********"') })
  })

  it('the frames of a watched device are kept for an unconfigured device, and for no other device', async () => {
    await watch(`0${UNKNOWN}`)
    const { say } = await watchingGateway({ hold: { unknown: true } })
    await say({ device: ID, fixes: [at(TIME)] })
    await say({ fixes: [at(TIME, { device: ID }), at(TIME, { device: UNKNOWN })] })
    await expect.poll(async () => (await framesOf(UNKNOWN)).results.length).toBe(1)
    expect((await framesOf(UNKNOWN)).results[0].fixes).toMatchObject([{ device: UNKNOWN }])
    expect((await framesOf()).results).toEqual([])
  })

  it('the frames of a watched device are at most 20, with 1,024 bytes and 20 fixes each', async () => {
    await watch()
    const { say } = await watchingGateway()
    const fixes = Array.from({ length: 30 }, (_, second) => at(TIME + second * 1000))
    for (let n = 0; n < 25; n++) await say({ device: ID, n, fixes })
    // Frames are written once a second, so they may arrive in two parts.
    await expect
      .poll(async () => (await framesOf()).results[0])
      .toMatchObject({ fix_count: 30, text: expect.stringContaining('"n":24') })
    const { results } = await framesOf()
    expect(results).toHaveLength(20)
    expect(results[19]).toMatchObject({ text: expect.stringContaining('"n":5') })
    for (const { bytes, fixes: shown, size } of results as { bytes: string; fixes: unknown[]; size: number }[]) {
      expect([bytes.length, shown.length]).toEqual([2048, 20])
      expect(size).toBeGreaterThan(1024)
    }
    expect((await framesOf(ID, '?max_results=3')).results).toEqual(results.slice(0, 3))
  })

  it('the frames of a watched device are deleted with the data of the device', async () => {
    await watch()
    const { say } = await watchingGateway()
    await say({ device: ID, fixes: [at(TIME)] })
    await expect.poll(async () => (await framesOf()).results.length).toBe(1)
    await admin.ask(`/admin/devices/${ID}/data`, { method: 'DELETE' })
    expect(await framesOf()).toEqual({ results: [] })
  })
})

describe('the frames of a device that is not watched', () => {
  it('the frames of a device that is not watched are those that were not understood', async () => {
    const content = Buffer.from([0x78, 0x78, 0xff])
    const fixes = [[TIME, 52.5, 13.4]] as const
    await keepFrame(admin.redis, ID, {
      at: TIME,
      content,
      protocol: 'gt06',
      transport: 'tcp',
      reason: 'entries',
      fixes,
    })
    expect(await framesOf()).toEqual({
      results: [
        {
          at: '2026-11-20T09:00:00.000Z',
          transport: 'tcp',
          protocol: 'gt06',
          bytes: '7878ff',
          size: 3,
          fixes: [{ time: '2026-11-20T09:00:00.000Z', lat: 52.5, lon: 13.4, valid: true }],
          fix_count: 1,
          error: 'not understood: entries',
        },
      ],
    })
  })

  it('a device cannot be watched with a token that may only read, or with an impossible id', async () => {
    expect((await watch(ID, READ_TOKEN)).status).toBe(403)
    expect((await watch('x'.repeat(65))).status).toBe(404)
    expect((await admin.ask(`/admin/devices/${'x'.repeat(65)}/frames`)).status).toBe(404)
  })

  it('the watch that ends first is dropped if more than 100 devices are watched', async () => {
    for (let n = 0; n < 101; n++) await watch(`device-${n}`)
    expect((await framesOf('device-0')).watched_until_at).toBeUndefined()
    expect((await framesOf('device-1')).watched_until_at).toBeDefined()
  })
})
