import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import owntracks from '../../protocols/owntracks/index.ts'
import type { Device } from '../../src/config/devices.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { openBox } from '../../src/gateway/reading.ts'
import { DeviceSecrets } from '../../src/roster/device-secrets.ts'
import { timestampOf } from '../../src/store/index.ts'
import { gateway, type IngestSetup, NOW_S, placeOf } from '../support/ingest.ts'
import { records } from '../support/records.ts'
import { createDirectory } from '../support/roster.ts'
import { encrypted } from '../support/secretbox.ts'

const SECRET = 'a secret of jane'
const JANE: Device = {
  id: 'jane',
  company_id: '7',
  courier_id: '42',
  route_id: '1001',
  secret: SECRET,
  source: 'devices.yaml:1',
}
const LOCATION = { _type: 'location', tst: NOW_S, lat: 52.525, lon: 13.41, topic: 'owntracks/jane/phone', tid: 'v1' }

/** A gateway that knows devices and their secrets. */
async function knowing(devices: Device[], more: Partial<IngestSetup> = {}) {
  const secretsOf = (id: string) =>
    devices.filter((device) => device.id === id).flatMap(({ secret, previous_secret }) => [secret, previous_secret])
  const secrets = { of: async (id: string) => secretsOf(id).filter((secret) => secret !== undefined) }
  const made = await gateway({ devices, secrets, hold: { unknown: true }, ...more })
  const post = (payload: object, { from = '192.0.2.7', uri = '/pub?u=jane&d=phone', headers = {} } = {}) => {
    const session = new Conversation('http', `${from}:1`)
    const body = Buffer.from(JSON.stringify(payload))
    const taken = made.ingest.take({ method: 'POST', uri, headers, body }, session, owntracks)
    return taken.then((outcome) => ('reason' in outcome ? outcome.reason : outcome.status))
  }
  return { ...made, post, places: () => made.stored.map(({ parts }) => placeOf(parts[0])) }
}

const basic = (password: string) => ({ authorization: `Basic ${Buffer.from(`jane:${password}`).toString('base64')}` })

it('reads a message encrypted with the secret of its device, which proves the device without a password', async () => {
  const { post, places } = await knowing([JANE])
  expect(await post(encrypted(LOCATION, SECRET))).toBe('stored')
  expect(places()).toEqual(['7/42/1001'])
  // Unlike one that is not encrypted, which is held like that of an unknown device.
  expect(await post(LOCATION)).toBe('stored')
  expect(places().at(-1)).toBe('held: unknown')
})

it('opens an encrypted message with the password that comes with it if no file has the secret', async () => {
  const { post, places } = await knowing([JANE], { secrets: undefined })
  expect(await post(encrypted(LOCATION, SECRET), { headers: basic(SECRET) })).toBe('stored')
  expect(places()).toEqual(['7/42/1001'])
  expect(await post(encrypted(LOCATION, SECRET))).toBe('wrong_secret')
})

it('opens an encrypted message of a device with settings', async () => {
  const { post, places } = await knowing([{ ...JANE, time_zone: '+00:00', model: 'phone' }])
  expect(await post(encrypted(LOCATION, SECRET))).toBe('stored')
  expect(places()).toEqual(['7/42/1001'])
})

it('opens an encrypted message with the previous secret, too', async () => {
  const { post } = await knowing([{ ...JANE, secret: 'another secret', previous_secret: SECRET }])
  expect(await post(encrypted(LOCATION, SECRET))).toBe('stored')
  expect(await post(encrypted(LOCATION, 'another secret'))).toBe('stored')
})

it('opens an encrypted message over MQTT with the password of the login', async () => {
  const { ingest, places } = await knowing([JANE], { secrets: undefined })
  const session = new Conversation('mqtt', '192.0.2.7:1')
  expect(ingest.login('jane', SECRET, session)).toBeUndefined()
  const frame = Buffer.from(JSON.stringify(encrypted({ ...LOCATION, topic: undefined }, SECRET)))
  expect(await ingest.take(frame, session, owntracks)).toMatchObject({ status: 'stored' })
  expect(places()).toEqual(['7/42/1001'])
})

it('stores and keeps nothing of an encrypted message that holds no location', async () => {
  const { post, places, frames } = await knowing([JANE])
  expect(await post(encrypted({ _type: 'lwt', tst: NOW_S }, SECRET))).toBe('stored')
  expect([places(), frames]).toEqual([[], []])
})

it('refuses an encrypted message that holds no JSON, or another encrypted message', async () => {
  const { post } = await knowing([JANE])
  expect(await post(encrypted('x', SECRET))).toBe('malformed')
  expect(await post(encrypted(encrypted(LOCATION, SECRET), SECRET))).toBe('unsupported')
  expect(await post({ _type: 'encrypted', data: 'AAAA' })).toBe('malformed')
})

it('takes the device of an encrypted message from its address, not from its content', async () => {
  const { post, places } = await knowing([JANE, { ...JANE, id: 'joe', courier_id: '43', secret: 'of joe alone' }])
  expect(await post(encrypted({ ...LOCATION, topic: 'owntracks/joe/phone' }, SECRET))).toBe('stored')
  expect(places()).toEqual(['7/42/1001'])
  expect(await post(encrypted(LOCATION, SECRET), { uri: '/pub?u=joe' })).toBe('wrong_secret')
  expect(await post(encrypted(LOCATION, SECRET), { uri: '/pub' })).toBe('unsupported')
})

it('refuses a message that the secret of its device does not open, even if unknown devices are held', async () => {
  const { post, places, frames } = await knowing([JANE])
  expect(await post(encrypted(LOCATION, 'a guess'))).toBe('wrong_secret')
  expect(await post(encrypted(LOCATION, 'a guess'), { uri: '/pub?u=nobody' })).toBe('unknown_device')
  expect(await post(encrypted(LOCATION, ''), { uri: '/pub?u=nobody' })).toBe('unknown_device')
  expect([places(), frames]).toEqual([[], []])
})

it('counts an encrypted message that does not open as a guess, which delays the right secret', async () => {
  const { post } = await knowing([JANE])
  for (let guess = 0; guess < 6; guess++) await post(encrypted(LOCATION, `guess ${guess}`))
  expect(await post(encrypted(LOCATION, SECRET))).toBe('wrong_secret')
  expect(await post(encrypted(LOCATION, SECRET), { from: '198.51.100.9' })).toBe('stored')
})

it('an encrypted message does not replace the right network, transport or certificate', async () => {
  const guarded = { ...JANE, networks: ['198.51.100.0/24'] }
  const { post } = await knowing([guarded])
  expect(await post(encrypted(LOCATION, SECRET))).toBe('not_permitted')
  expect(await post(encrypted(LOCATION, SECRET), { from: '198.51.100.9' })).toBe('stored')
  const byMqtt = await knowing([{ ...JANE, transports: ['mqtt'] }])
  expect(await byMqtt.post(encrypted(LOCATION, SECRET))).toBe('not_permitted')
  const certified = await knowing([{ ...JANE, client_certificate: ['jane'] }])
  expect(await certified.post(encrypted(LOCATION, SECRET))).toBe('not_permitted')
})

it('keeps an encrypted message of a device that has no secret', async () => {
  const { post, kept } = await knowing([{ ...JANE, secret: undefined }])
  expect(await post(encrypted(LOCATION, SECRET))).toBe('stored')
  expect(kept()).toMatchObject([{ device: 'jane', reason: 'not_read' }])
})

it('judges an encrypted message by the secret in the roster, whatever a file says', async () => {
  const { post, state } = await knowing([JANE])
  state.roster = await createDirectory([{ ...JANE, secret: 'put by the admin port' }], [])
  state.version++
  expect(await post(encrypted(LOCATION, SECRET))).toBe('wrong_secret')
})

it('stores encrypted messages in their order while the secrets are being read', async () => {
  const reading = Promise.withResolvers<string[]>()
  const { ingest, stored } = await knowing([JANE], { secrets: { of: () => reading.promise } })
  const take = (tst: number) => {
    const body = Buffer.from(JSON.stringify(encrypted({ ...LOCATION, tst }, SECRET)))
    const session = new Conversation('http', '192.0.2.7:1')
    return ingest.take({ method: 'POST', uri: '/?u=jane', headers: {}, body }, session, owntracks)
  }
  const taken = [take(NOW_S - 2), take(NOW_S - 1), take(NOW_S)]
  reading.resolve([SECRET])
  expect(await Promise.all(taken)).toMatchObject(taken.map(() => ({ status: 'stored' })))
  const times = stored.map(({ parts: [{ records: packed }] }) => [...records(packed)].map(timestampOf))
  expect(times).toEqual([[NOW_S - 2], [NOW_S - 1], [NOW_S]])
})

/** A folder with a devices.yaml, and the secrets in it. */
async function folder(yaml: string) {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-secrets-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const write = (text: string) => writeFile(join(dir, 'devices.yaml'), text)
  await write(yaml)
  return { dir, write, secrets: new DeviceSecrets(dir) }
}

it('finds the secrets of a device in the files by its id with or without leading zeros', async () => {
  const { secrets } = await folder(`"0042": { company_id: 7, secret: "new secret", previous_secret: "old secret" }\n`)
  expect(await secrets.of('42')).toEqual(['new secret', 'old secret'])
  expect(await secrets.of('43')).toEqual([])
})

it('reads the secrets of the files again once a file has changed', async () => {
  const { secrets, write } = await folder(`jane: { company_id: 7, secret: "the first secret" }\n`)
  expect(await secrets.of('jane')).toEqual(['the first secret'])
  await write(`jane: { company_id: 7, secret: "the second secret" }\n`)
  expect(await Promise.all([secrets.of('jane'), secrets.of('jane')])).toEqual([
    ['the second secret'],
    ['the second secret'],
  ])
})

it('keeps the secrets of a file while it has a mistake or is gone, as its devices stay, too', async () => {
  const { dir, secrets, write } = await folder(`jane: { company_id: 7, secret: "the first secret" }\n`)
  expect(await secrets.of('jane')).toEqual(['the first secret'])
  await write(`jane: { company_id: 7, secret: "the second secret" }\njoe: { company_id: none }\n`)
  expect(await secrets.of('jane')).toEqual(['the first secret'])
  await rm(join(dir, 'devices.yaml'))
  expect(await secrets.of('jane')).toEqual(['the first secret'])
  await write(`jane: { company_id: 7, secret: "the second secret" }\n`)
  expect(await secrets.of('jane')).toEqual(['the second secret'])
  await write(`joe: { company_id: 7, secret: "another secret" }\n`)
  expect(await secrets.of('jane')).toEqual(['the second secret'])
})

it('finds no secrets if there is no file', async () => {
  expect(await new DeviceSecrets('/nonexistent').of('jane')).toEqual([])
})

// "secretbox" in the tests of NaCl (nacl.cr.yp.to): firstkey, nonce, c and m.
const KEY = Buffer.from('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389', 'hex')
const NONCE = Buffer.from('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37', 'hex')

it('takes as long to open a box without a secret as with wrong ones of any length', async () => {
  const sealed = { nonce: Buffer.alloc(24), box: Buffer.alloc(60_000), read: () => ({}) }
  const kinds = [[], ['a'.repeat(33), 'b'.repeat(40)], ['wrong one', 'another']]
  const times = kinds.map((): number[] => [])
  for (let n = 0; n < 40; n++)
    for (const [kind, secrets] of kinds.entries()) {
      const begun = performance.now()
      expect(await openBox(sealed, secrets)).toBeUndefined()
      times[kind].push(performance.now() - begun)
    }
  const shortest = times.map((some) => Math.min(...some))
  expect(Math.max(...shortest) / Math.min(...shortest)).toBeLessThan(1.5)
})

it('opens a box by a key of text and zeros up to 32 bytes, and by no longer key', async () => {
  const { data } = encrypted('hello', 'short')
  const bytes = Buffer.from(data, 'base64')
  const sealed = { nonce: bytes.subarray(0, 24), box: bytes.subarray(24), read: () => ({}) }
  expect(await openBox(sealed, ['long'.repeat(9), 'wrong', 'short'])).toEqual({
    content: Buffer.from('"hello"'),
    secret: 'short',
  })
  expect(await openBox(sealed, ['wrong'])).toBeUndefined()
  expect(await openBox(sealed, [])).toBeUndefined()
})

it('opens the test box of NaCl', async () => {
  const { secretbox } = await import('@noble/ciphers/salsa.js')
  const box = Buffer.from(
    'f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5',
    'hex',
  )
  const opened = Buffer.from(secretbox(KEY, NONCE).open(box)).toString('hex')
  expect(opened).toMatch(/^be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffc.*8645e0705$/)
})
