import { expect, it, vi } from 'vitest'
import { Conversation } from '../../src/gateway/conversation.ts'
import { HeardBook } from '../../src/gateway/heard.ts'
import { keys } from '../../src/store/index.ts'
import { adminFixture, hold } from '../support/admin.ts'

const admin = adminFixture()
const VAN_14 = '356307042441014'

interface Chain {
  readonly sentence: string
  readonly broken: string | null
  readonly links: readonly object[]
  readonly findings: readonly object[]
}

async function chainOf(device: string): Promise<Chain> {
  return (await admin.ask(`/admin/devices/${device}/chain`)).json as Chain
}

it('the chain and a finding name the protocol of a device on the wrong port until the device is heard', async () => {
  const bytes = Buffer.from(
    `*HQ,${VAN_14},V1,101530,A,5441.2328,N,02516.7808,E,20.00,045.00,201126,FFFFFBFF#`,
  ).toString('hex')
  const sender = { at: Date.now(), address: '203.0.113.7:40112', transport: 'tcp', port: 5023, evidence: [], bytes }
  await admin.redis.lpush(keys.arrivals, JSON.stringify({ ...sender, protocol: 'gt06' }))
  const finding = {
    code: 'wrong_port',
    severity: 'warning',
    message: 'Van 14, on a route now, sends to a port that does not understand it: nothing of it is taken',
    evidence: ['its id came from 203.0.113.7:40112 at port 5023 (gt06), and was not understood there'],
    action: expect.stringMatching(/^it seems to speak h02: set port \d+ in the device$/),
  }
  expect(await chainOf(VAN_14)).toMatchObject({
    broken: 'understood',
    findings: [{ ...finding, action: expect.any(String) }],
  })
  // Waits until the decoders are loaded.
  const knowsProtocol = async () => expect(await chainOf(VAN_14)).toMatchObject({ findings: [finding] })
  await vi.waitFor(knowsProtocol, { timeout: 90_000 })
  expect((await chainOf(VAN_14)).sentence).not.toMatch(/SIM|power/)
  const known = async () => (await admin.ask(`/admin/findings?device=${VAN_14}`)).json as { results: object[] }
  await vi.waitFor(async () => expect((await known()).results).toMatchObject([finding]), { timeout: 30_000 })
  const heard = new HeardBook(admin.redis)
  heard
    .of(VAN_14)
    .spoke(Object.assign(new Conversation('tcp', '10.1.2.3:40001'), { device: VAN_14, now: Date.now() }), 'h02')
  const at = Date.now()
  heard.of(VAN_14).stored({ fix: { at, fix: { time: at, latitude: 52.5, longitude: 13.4, valid: true } } })
  await heard.close()
  await vi.waitFor(
    async () => expect((await known()).results).toMatchObject([{ code: 'wrong_port', ended_at: expect.any(String) }]),
    { timeout: 30_000 },
  )
  expect((await chainOf(VAN_14)).links[1]).toMatchObject({ link: 'understood', state: 'ok' })
})

it('the chain and a finding name the entry to correct for a sender whose id is almost that of an unheard device', async () => {
  const near = '356307041441014'
  await hold(admin.redis, 'unknown', near, { count: 2 })
  const action =
    'is it Van 14, whose id in devices.yaml:3 has one other digit, and a wrong check digit? If so, correct the id there; otherwise name it under Arrivals or in devices.yaml if it is yours'
  const { sentence, findings } = await chainOf(near)
  expect(sentence).toMatch(
    /2 fixes held since .*: is it Van 14, whose id in devices\.yaml:3 has one other digit, and a wrong check digit\?/,
  )
  expect(findings).toMatchObject([{ code: 'unknown_device', action }])
  await vi.waitFor(
    async () => {
      const { json } = await admin.ask(`/admin/findings?device=${near}`)
      expect(json).toMatchObject({ results: [{ code: 'unknown_device', action }] })
    },
    { timeout: 30_000 },
  )
})

it('no entry is suspected if the IMEI of its device is just the next number', async () => {
  const neighbour = '356307042441021'
  await hold(admin.redis, 'unknown', neighbour, { count: 1 })
  const { sentence, findings } = await chainOf(neighbour)
  expect(sentence).toMatch(/add it to devices\.yaml/)
  expect(JSON.stringify(findings)).not.toMatch(/devices\.yaml:\d/)
})
