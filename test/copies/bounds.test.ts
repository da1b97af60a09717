import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, it, vi } from 'vitest'
import type { Copy } from '../../src/config/copies.ts'
import { CopyKeeper } from '../../src/copies/index.ts'
import { observations } from '../../src/observe/observations.ts'
import {
  copyAccounts,
  enterCopies,
  forgetDevice,
  keys,
  retryCopy,
  type Store,
  surveyCopies,
} from '../../src/store/index.ts'
import { copying, copyOf, startCopyReceiver, storeCopied, VAN } from '../support/copies.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

let server: TestRedis
let redis: Store

withRedis((one, connection) => {
  server = one
  redis = connection
})

const logged: { copy: string; fixes?: number; msg: string }[] = []
const logger = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) })
const account = async (copy = 'crm') => (await copyAccounts(redis, [copy]))[0]
const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index)

function keeping(copies: readonly Copy[], { companies = ['7'], stopAt = 0.85 } = {}): CopyKeeper {
  const settings = { copies: () => copies, companies: () => companies.map((company_id) => ({ company_id })) }
  return new CopyKeeper({ redis, settings, stopAt, logger })
}

it('a copy discards its oldest fixes beyond max_waiting, counts and reports them, and affects no other copy', async () => {
  const keeper = keeping([copyOf({ max_waiting: 100 }), copyOf({ name: 'erp' })])
  await keeper.look()
  for (let first = 0; first < 300; first += 10) await storeCopied(redis, numbers(first, 10))
  await keeper.look()
  expect(await account()).toMatchObject({ waiting: 100, discarded: 200, difference: 0 })
  expect(await account('erp')).toMatchObject({ waiting: 300, discarded: 0 })
  const found = observations.current().filter(({ code }) => code === 'copy_full')
  expect(found.map(({ subject }) => subject)).toEqual([{ copy: 'crm' }])
  const receiver = await startCopyReceiver()
  copying(server, [copyOf({ to: receiver.url, max_waiting: 100 })])
  await vi.waitFor(async () => expect((await account()).waiting).toBe(0), { timeout: 60_000 })
  expect(receiver.timesOf()).toEqual(numbers(200, 100))
  expect(await account()).toMatchObject({ delivered: 100, discarded: 200, difference: 0 })
})

it('a copy continues if its oldest fixes were discarded while they were sent', async () => {
  const hanging = Promise.withResolvers<number>()
  const receiver = await startCopyReceiver(() => hanging.promise)
  const keeper = keeping([copyOf({ max_waiting: 20 })])
  await keeper.look()
  for (let first = 0; first < 60; first += 10) await storeCopied(redis, numbers(first, 10))
  copying(server, [copyOf({ to: receiver.url })])
  await vi.waitFor(() => expect(receiver.seen).not.toEqual([]), { timeout: 60_000 })
  await keeper.look()
  expect(await account()).toMatchObject({ waiting: 20, discarded: 40 })
  hanging.resolve(200)
  await vi.waitFor(async () => expect(await account()).toMatchObject({ waiting: 0, difference: 0 }), {
    timeout: 60_000,
  })
  const times = receiver.timesOf()
  expect(times.slice(-10)).toEqual(numbers(50, 10))
  expect(times).toEqual(times.toSorted((one, other) => one - other))
  expect(await account()).toMatchObject({ delivered: 20, discarded: 40 })
})

it('a copy takes at most half of the memory that nothing else needs', async () => {
  const keeper = keeping([copyOf({})], { stopAt: 1 })
  await keeper.look()
  for (let first = 0; first < 30; first++) await storeCopied(redis, numbers(first * 1000, 1000))
  await keeper.look()
  expect(await account()).toMatchObject({ waiting: 30_000, discarded: 0 })
  const { used, of } = await memory()
  const bytes = Number(await redis.memory('USAGE', `${keys.copiedPrefix}7`))
  // Leaves less memory than the copies take.
  const tight = (used + bytes * 0.4) / of
  await keeping([copyOf({})], { stopAt: tight }).look()
  const { waiting, discarded } = await account()
  expect(waiting + discarded).toBe(30_000)
  expect(waiting).toBeGreaterThan(15_000)
  expect(waiting).toBeLessThan(25_000)
})

it('copies take at most 42 bytes of Redis for a waiting fix, however many copies get it', async () => {
  const keeper = keeping(['a', 'b', 'c', 'd', 'e'].map((name) => copyOf({ name })))
  await keeper.look()
  const before = (await memory()).used
  for (let n = 0; n < 100; n++)
    await Promise.all(
      numbers(n * 20, 20).map((time) => storeCopied(redis, [time], { beside: { altitude: 4, satellites: 9 } })),
    )
  const lane = Number(await redis.memory('USAGE', keys.lane('7/42/1001')))
  expect(((await memory()).used - before - lane) / 2000).toBeLessThanOrEqual(42)
  expect(Number(await redis.memory('USAGE', `${keys.copiedPrefix}7`, 'SAMPLES', 0)) / 2000).toBeLessThanOrEqual(40)
})

async function memory() {
  const info = await redis.info('memory')
  const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1])
  return { used: read('used_memory'), of: read('maxmemory') }
}

it('a new copy gets the fixes that arrive from then on', async () => {
  await keeping([copyOf({})]).look()
  await storeCopied(redis, numbers(0, 5))
  await keeping([copyOf({}), copyOf({ name: 'erp' })]).look()
  await storeCopied(redis, numbers(5, 5))
  expect(await account('erp')).toMatchObject({ waiting: 5 })
  expect(await account()).toMatchObject({ waiting: 10 })
})

it('a copy that is no longer configured loses its waiting fixes, which is reported', async () => {
  await keeping([copyOf({}), copyOf({ name: 'erp' })]).look()
  await storeCopied(redis, numbers(0, 5))
  logged.length = 0
  const { logs } = await surveyCopies(redis)
  // Makes the copy look unconfigured for a long time.
  const [entry, fix, start] = ['0', '0', '0']
  expect(logs[0].cursors.has('crm')).toBe(true)
  await redis.hset(`${keys.cursorsPrefix}7`, 'crm', `${entry} ${fix} ${start} 0`)
  await keeping([copyOf({ name: 'erp' })]).look()
  expect(logged).toContainEqual(expect.objectContaining({ copy: 'crm', fixes: 5 }))
  expect((await surveyCopies(redis)).logs.map(({ cursors }) => [...cursors.keys()])).toEqual([['erp']])
  await keeping([copyOf({ name: 'erp' })]).look()
  expect(await redis.hkeys(keys.copyCounts)).toEqual([])
  await redis.hset(`${keys.cursorsPrefix}7`, 'erp', '0 0 0 0')
  await keeping([]).look()
  expect(await redis.keys('*copied*')).toEqual([])
})

it('a copy that another process configured a moment ago is kept', async () => {
  await keeping([copyOf({})]).look()
  await storeCopied(redis, numbers(0, 5))
  await keeping([]).look()
  expect(await account()).toMatchObject({ waiting: 5 })
})

it.each([
  ['Redis was away', { beat: Date.now() - 60_000, seen: 0 }],
  ['the clock of Redis was set back', { beat: Date.now(), seen: Date.now() + 60_000 }],
])('a copy that another process has configured is kept after %s', async (_, { beat, seen }) => {
  const other = keeping([copyOf({})])
  await other.look()
  await storeCopied(redis, numbers(0, 5))
  await redis.hset(keys.clock, 'beat', beat)
  await redis.hset(`${keys.cursorsPrefix}7`, 'crm', `0 0 0 ${seen}`)
  const keeper = keeping([])
  await keeper.look()
  await other.look()
  await keeper.look()
  expect(await account()).toMatchObject({ waiting: 5, discarded: 0 })
})

it('a copy keeps its account when it no longer gets a company', async () => {
  await keeping([copyOf({})], { companies: ['7', '8'] }).look()
  await storeCopied(redis, numbers(0, 5))
  await storeCopied(redis, numbers(0, 3), { lane: '8/1/1', device: '8' })
  await redis.hset(`${keys.cursorsPrefix}8`, 'crm', '0 0 0 0')
  await keeping([copyOf({ companies: ['7'] })], { companies: ['7', '8'] }).look()
  expect(await account()).toMatchObject({ waiting: 5, discarded: 3, difference: 0 })
})

it('forgetting a device deletes its fixes that wait for copies, and the account still adds up', async () => {
  const receiver = await startCopyReceiver()
  await enterCopies(redis, [{ copy: 'crm', log: '7' }])
  await storeCopied(redis, [1, 2])
  await storeCopied(redis, [3], { device: 'other' })
  await storeCopied(redis, [4])
  expect((await forgetDevice(redis, new Set([VAN]))).copied).toBe(3)
  expect((await redis.lrangeBuffer(`${keys.copiedPrefix}7`, 0, -1)).map(({ length }) => length)).toEqual([
    2,
    expect.any(Number),
    2,
  ])
  copying(server, [copyOf({ to: receiver.url })])
  await vi.waitFor(async () => expect(await account()).toMatchObject({ waiting: 0, difference: 0 }), {
    timeout: 60_000,
  })
  expect(await account()).toMatchObject({ delivered: 1, discarded: 3 })
  expect(receiver.timesOf('other')).toEqual([3])
  expect(receiver.timesOf()).toEqual([])
})

it('forgetting a device during a delivery keeps its fixes out of later requests, and the account adds up', async () => {
  const receiver = await startCopyReceiver(() => sleep(5, 200))
  await enterCopies(redis, [{ copy: 'crm', log: '7' }])
  for (let time = 0; time < 400; time++) await storeCopied(redis, [time], { device: time % 4 === 0 ? VAN : 'other' })
  copying(server, [copyOf({ to: receiver.url })])
  await vi.waitFor(() => expect(receiver.seen.length).toBeGreaterThan(2), { timeout: 60_000 })
  const { copied } = await forgetDevice(redis, new Set([VAN]))
  const after = receiver.seen.length
  expect(copied).toBeGreaterThan(0)
  await vi.waitFor(async () => expect(await account()).toMatchObject({ waiting: 0, difference: 0 }), {
    timeout: 60_000,
  })
  // Requests in flight may have been sent just before.
  const later = receiver.seen.slice(after + 8).flatMap(({ fixes }) => fixes.map(({ device }) => device))
  expect(later).not.toContain(VAN)
  const { delivered, discarded } = await account()
  expect([delivered + discarded, new Set(receiver.timesOf('other')).size]).toEqual([400, 300])
})

it('forgetting a device while its request hangs or is refused prevents a repetition and parking', async () => {
  const [hanging, refusing] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()]
  const receiver = await startCopyReceiver(({ fixes }) => {
    if (fixes.some(({ device }) => device === VAN)) return hanging.promise
    return fixes.some(({ device }) => device === 'refused') ? refusing.promise : 200
  })
  await enterCopies(redis, [{ copy: 'crm', log: '7' }])
  for (const device of [VAN, 'refused', 'other']) await storeCopied(redis, [1], { device })
  copying(server, [copyOf({ to: receiver.url })])
  const asked = (device: string) => receiver.seen.filter(({ fixes }) => fixes.some((fix) => fix.device === device))
  await vi.waitFor(() => expect([asked(VAN).length, asked('refused').length]).toEqual([1, 1]), { timeout: 60_000 })
  expect((await forgetDevice(redis, new Set([VAN]))).copied).toBe(1)
  expect((await forgetDevice(redis, new Set(['refused']))).copied).toBe(1)
  hanging.resolve(503)
  refusing.resolve(422)
  await vi.waitFor(async () => expect(await account()).toMatchObject({ waiting: 0, difference: 0 }), {
    timeout: 60_000,
  })
  expect(await account()).toMatchObject({ delivered: 1, parked: 0, discarded: 2 })
  expect([asked(VAN).length, asked('refused').length]).toEqual([1, 1])
  expect(receiver.timesOf('other')).toContain(1)
})

it('forgetting a device during a retry of its parked fixes prevents their delivery', async () => {
  const receiver = await startCopyReceiver(() => 422)
  await enterCopies(redis, [{ copy: 'crm', log: '7' }])
  await storeCopied(redis, [1], { device: 'other' })
  await storeCopied(redis, [2, 3])
  copying(server, [copyOf({ to: receiver.url })])
  await vi.waitFor(async () => expect((await account()).parked).toBe(3), { timeout: 60_000 })
  const hanging = Promise.withResolvers<number>()
  const before = receiver.seen.length
  receiver.answer(() => hanging.promise)
  await retryCopy(redis, 'crm')
  await vi.waitFor(() => expect(receiver.seen.length).toBeGreaterThan(before), { timeout: 60_000 })
  const first = receiver.seen[before].fixes[0].device
  const forgotten = first === VAN ? 'other' : VAN
  const { copied } = await forgetDevice(redis, new Set([forgotten]))
  hanging.resolve(200)
  await vi.waitFor(async () => expect(await account()).toMatchObject({ parked: 0, difference: 0 }), {
    timeout: 60_000,
  })
  expect(receiver.timesOf(forgotten)).toEqual([])
  expect(await account()).toMatchObject({ delivered: 3 - copied, discarded: copied })
})
