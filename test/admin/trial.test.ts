import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { StatusJson } from '../../src/admin/schemas/status.ts'
import type { TrialJson } from '../../src/admin/schemas/trial.ts'
import { addTrial, readTriedDevices, signOn, type TriedDevice } from '../../src/store/index.ts'
import { adminFixture, READ_TOKEN, TOKEN } from '../support/admin.ts'
import { waybridge } from '../support/cli.ts'
import { TOKEN_7, twoCompanies } from '../support/two-companies.ts'

const NO_FRAMES = { seen: 0, stored: 0, missed: 0 }
const COUNTS = { frames: 2, not_understood: 0, positions: 1, answers_equal: 2, answers_different: 0 }
const VAN_12 = '0356307042441013'
const tried = (device: string, change: Partial<TriedDevice['counts']> = {}): TriedDevice => ({
  device,
  protocol: 'teltonika',
  counts: { ...COUNTS, ...change },
})
const DIFFERENCE = { at: Date.now(), frame: '01', ours: '02', old: '03' }

describe('the trial', () => {
  const admin = adminFixture()
  const trial = async (token = TOKEN, language = 'en') =>
    (
      await admin.ask('/admin/trial', {
        headers: { authorization: `Bearer ${token}`, 'accept-language': language },
      })
    ).json as TrialJson
  const status = async () => (await admin.ask('/admin/status')).json as StatusJson

  /** Starts the sign of life of a gateway with this number of trial listeners. */
  function gatewayWith(trials: number) {
    const sign = signOn(admin.redis, { role: 'gateway', installation: admin.dir }, () => ({ trials }))
    onTestFinished(() => sign.stop())
  }

  it('the trial has no device before one has sent', async () => {
    expect(await trial()).toEqual({
      verdict: 'no tracker has come by way of the trial yet',
      running: false,
      account: NO_FRAMES,
      devices: [],
      left_out: 0,
    })
    const { on_trial, trial: account } = await status()
    expect([on_trial, account]).toEqual([undefined, undefined])
    expect((await waybridge(['trial', '--url', admin.url, '--token', TOKEN])).out).toBe('no trial runs now\n')
  })

  it('the trial lists each device with its entry, and those that differ first', async () => {
    await addTrial(admin.redis, { seen: 9, stored: 8, missed: 1 }, [
      tried('1'),
      tried(VAN_12),
      { ...tried('van/15', { answers_different: 2, answers_equal: 0 }), difference: DIFFERENCE },
    ])
    const { account, devices, verdict } = await trial()
    expect(verdict).toBe('3 of 3 devices understood, 66.66 % of answers equal, 1 device differs: look')
    expect(account).toEqual({ seen: 9, stored: 8, missed: 1 })
    expect(devices.map(({ device, name, configured, trial: on }) => [device, name, configured, on])).toEqual([
      ['van/15', undefined, true, 'on'],
      [VAN_12, 'Van 12', true, 'on'],
      ['1', undefined, false, 'on'],
    ])
    expect(devices[0].first_difference).toEqual({ ...DIFFERENCE, at: new Date(DIFFERENCE.at).toISOString() })
    expect((await trial(TOKEN, 'de')).verdict).toBe(
      '3 von 3 Geräten verstanden, 66,66 % der Antworten gleich, 1 Gerät weicht ab: ansehen',
    )
  })

  it('the trial adds up what several gateways have seen, and keeps the first difference', async () => {
    await addTrial(admin.redis, { seen: 1, stored: 1, missed: 0 }, [{ ...tried('1'), difference: DIFFERENCE }])
    await addTrial(admin.redis, { seen: 2, stored: 0, missed: 2 }, [
      { ...tried('1'), difference: { ...DIFFERENCE, old: 'ff' } },
    ])
    const { account, devices } = await trial()
    expect(account).toEqual({ seen: 3, stored: 1, missed: 2 })
    expect(devices).toMatchObject([{ frames: 4, positions: 2, answers_equal: 4, first_difference: { old: '03' } }])
  })

  it('the trial shows what devices send only to tokens that may operate', async () => {
    await addTrial(admin.redis, NO_FRAMES, [{ ...tried('1'), difference: DIFFERENCE }])
    expect((await trial(READ_TOKEN)).devices[0].first_difference).toBeUndefined()
    expect((await trial()).devices[0].first_difference).toBeDefined()
  })

  it('the trial lists 1,000 devices, and says how many are left out', async () => {
    await addTrial(
      admin.redis,
      NO_FRAMES,
      Array.from({ length: 1001 }, (_, n) => tried(`d${n}`)),
    )
    const { devices, left_out, verdict } = await trial()
    expect([devices.length, left_out, verdict]).toEqual([1000, 1, '1001 of 1001 devices understood, all answers equal'])
  })

  it('the status shows the trial while a listener has an old server', async () => {
    await addTrial(admin.redis, { seen: 3, stored: 1, missed: 2 }, [])
    gatewayWith(2)
    await vi.waitFor(async () => expect((await status()).trial).toEqual({ seen: 3, stored: 1, missed: 2 }), 20_000)
    expect((await trial()).running).toBe(true)
  })

  it('the trial of a device is switched by its entry, which keeps its other settings', async () => {
    const path = `/admin/devices/${VAN_12}`
    const put = (body: object) =>
      admin.ask(path, {
        method: 'PUT',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    await addTrial(admin.redis, NO_FRAMES, [tried(VAN_12)])
    const before = (await admin.ask(path)).json as object
    const { status: code, json } = await put({ ...before, trial: 'off', feed: true })
    expect([code, json]).toMatchObject([
      200,
      { trial: 'off', feed: true, name: 'Van 12', secret: true, model: 'FMB920' },
    ])
    expect((await trial()).devices).toMatchObject([{ trial: 'off', feed: true }])
    await put({ ...before, trial: 'on' })
    expect((await trial()).devices).toMatchObject([{ trial: 'on', feed: false }])
    expect((await put({ ...before, trial: 'later' })).status).toBe(422)
  })

  it('the trial of a device is deleted with its data', async () => {
    await addTrial(admin.redis, NO_FRAMES, [tried(VAN_12), tried('1')])
    await admin.ask(`/admin/devices/${VAN_12}/data`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    expect((await readTriedDevices(admin.redis)).map(({ device }) => device)).toEqual(['1'])
  })
})

describe('a token for one company', () => {
  const admin = twoCompanies()

  it('a token for one company sees its own devices on trial, but no account of the trial', async () => {
    const sign = signOn(admin.redis, { role: 'gateway', installation: admin.dir }, () => ({ trials: 1 }))
    onTestFinished(() => sign.stop())
    const headers = { authorization: `Bearer ${TOKEN_7}` }
    const status = async () => (await admin.ask('/admin/status', { headers })).json as StatusJson
    await vi.waitFor(async () => expect((await status()).on_trial).toBe(true), 20_000)
    expect((await status()).trial).toBeUndefined()
    await addTrial(admin.redis, { seen: 1, stored: 1, missed: 0 }, [
      tried(VAN_12),
      tried('1'),
      tried('zebra-1', { answers_different: 1 }),
    ])
    const { json } = await admin.ask('/admin/trial', { headers })
    expect(json).toMatchObject({
      verdict: '1 of 1 devices understood, all answers equal',
      devices: [{ device: VAN_12 }],
      left_out: 0,
    })
    expect(json).not.toHaveProperty('account')
  })
})
