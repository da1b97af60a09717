import { expect, it } from 'vitest'
import { DecodeError, type Message } from '../../../protocols/kit/index.ts'
import { TrialBook } from '../../../src/gateway/trial/book.ts'
import type { Outcome } from '../../../src/gateway/outcome.ts'
import { forgetTried, readTrialAccount, readTriedDevices, type Store } from '../../../src/store/index.ts'
import { withoutSecret } from '../../../src/roster/device-entry.ts'
import { createDirectory } from '../../support/roster.ts'
import { withRedis } from '../../support/with-redis.ts'
import type { TestRedis } from '../../support/redis.ts'

const VAN = { id: '007', company_id: '7', source: 'devices.yaml:1' }
const FIX = { time: 1, latitude: 1, longitude: 2, valid: true }
let server: TestRedis
let redis: Store
withRedis((given, store) => void ((server = given), (redis = store)))

async function bookOf({ maxUnknown = 10 } = {}) {
  const replica = {
    roster: await createDirectory([{ ...VAN, ...withoutSecret({ ...VAN, secret: 'canary-secret' }) }], []),
  }
  return new TrialBook(redis, { replica, maxUnknown })
}

const from = (device?: string, ...secrets: string[]) => ({ device, protocol: 'talk', secrets })
const stored = (read: Message | DecodeError): Outcome => ({ status: 'stored', read })
const missed = (read: Message | DecodeError): Outcome => ({ status: 'not_stored', reason: 'redis', read })
const bytes = (text: string) => Buffer.from(text)
const differs = (frame: string, ours = 'a', old = 'b') =>
  ({ isEqual: false, frame: bytes(frame), ours: bytes(ours), old: bytes(old) }) as const

it('counts frames, positions and answers of a trial by device, and adds up all gateways', async () => {
  for (const book of [await bookOf(), await bookOf()]) {
    book.took(from('7'), stored({ none: 'login' }))
    book.took(from('7'), stored({ fixes: [FIX, FIX] }))
    book.took(from('7'), missed({ fixes: [FIX] }))
    book.took(from('7'), missed(new DecodeError('malformed')))
    book.missed(from('7'), true)
    book.missed(from(), false)
    book.compared(from('7'), { isEqual: true })
    book.compared(from('7'), differs('fix'))
    await book.write()
  }
  expect(await readTrialAccount(redis)).toEqual({ seen: 12, stored: 4, missed: 8 })
  const [device, ...others] = await readTriedDevices(redis)
  expect(others).toEqual([])
  expect(device).toEqual({
    device: '007',
    protocol: 'talk',
    counts: { frames: 10, not_understood: 4, positions: 6, answers_equal: 2, answers_different: 2 },
    difference: { at: expect.any(Number), frame: '666978', ours: '61', old: '62' },
  })
  expect(await redis.ttl(`{wb0}:trial`)).toBeGreaterThan(600_000)
})

it('counts the frame of a relay in a trial for each device in it', async () => {
  const book = await bookOf()
  book.took(
    from('relay'),
    stored({
      fixes: [
        { ...FIX, device: '7' },
        { ...FIX, device: '8' },
        { ...FIX, device: '8' },
      ],
    }),
  )
  await book.write()
  const positions = (await readTriedDevices(redis)).map(({ device, counts }) => [device, counts.positions])
  expect(positions.toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1))).toEqual([
    ['007', 1],
    ['8', 2],
  ])
})

it('shows no secret in the differences of a trial', async () => {
  const book = await bookOf()
  book.compared(from('7', 'presented'), differs('GET /?id=7&x=presented&y=canary-secret', 'presented', 'token=other'))
  await book.write()
  const [{ difference }] = await readTriedDevices(redis)
  const shown = [difference?.frame, difference?.ours, difference?.old].map((hex) =>
    Buffer.from(hex ?? '', 'hex').toString(),
  )
  expect(shown).toEqual(['GET /?id=7&x=*********&y=*************', '*********', 'token=*****'])
})

it('leaves unknown devices out of a trial once they are very many', async () => {
  const book = await bookOf({ maxUnknown: 1 })
  for (let n = 0; n < 50; n++) book.took(from(`x${n}`), stored({ fixes: [FIX] }))
  book.took(from('7'), stored({ fixes: [FIX] }))
  await book.write()
  const devices = await readTriedDevices(redis)
  expect(devices.length).toBeLessThan(20)
  expect(devices.map(({ device }) => device)).toContain('007')
  expect(await readTrialAccount(redis)).toMatchObject({ seen: 51, stored: 51 })
})

it('leaves ids that are too long out of a trial, and counts their frames', async () => {
  const book = await bookOf()
  for (const id of ['x'.repeat(64), 'x'.repeat(65), 'é'.repeat(33)]) {
    book.took(from(id), stored({ fixes: [FIX] }))
    book.took(from('relay'), stored({ fixes: [{ ...FIX, device: id }] }))
    book.missed(from(id), true)
    book.compared(from(id), differs('fix'))
  }
  await book.write()
  expect((await readTriedDevices(redis)).map(({ device }) => device)).toEqual(['x'.repeat(64)])
  expect(await readTrialAccount(redis)).toEqual({ seen: 9, stored: 6, missed: 3 })
})

it('loses no count of a trial while Redis is away or a write is under way', async () => {
  const book = await bookOf()
  book.took(from('7'), stored({ fixes: [FIX] }))
  await server.kill('SIGSTOP')
  const writing = book.write()
  book.took(from('7'), stored({ fixes: [FIX] }))
  await server.kill('SIGCONT')
  await writing
  await book.close()
  expect(await readTrialAccount(redis)).toMatchObject({ seen: 2, stored: 2 })
  expect((await readTriedDevices(redis))[0].counts.positions).toBe(2)
})

it('forgets a device of a trial', async () => {
  const book = await bookOf()
  for (const id of ['7', '8']) book.took(from(id), stored({ fixes: [FIX] }))
  book.compared(from('7'), differs('fix'))
  await book.write()
  expect(await forgetTried(redis, '007')).toBeGreaterThan(2)
  expect((await readTriedDevices(redis)).map(({ device }) => device)).toEqual(['8'])
  expect(Object.keys(await redis.hgetall(`{wb0}:tried-devices`)).join()).not.toContain('007')
})
