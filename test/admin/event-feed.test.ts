import { createServer, type ServerResponse } from 'node:http'
import { afterEach, expect, it, vi } from 'vitest'
import { EventFeed, EventReader, type ReaderOptions } from '../../src/admin/events/feed.ts'
import { everySecond } from '../../src/async.ts'
import { EventLog } from '../../src/admin/events/event-log.ts'
import { EVERYTHING } from '../../src/admin/scope.ts'
import { type Followed, followEvents } from '../support/events.ts'
import { listening } from '../support/listening.ts'

const ending: (() => unknown)[] = []
const soon = { timeout: 30_000, interval: 20 }
const ALL = new Set(['status', 'device', 'finding', 'arrival', 'roster', 'audit'] as const)

afterEach(async () => {
  vi.useRealTimers()
  for (const end of ending.splice(0).toReversed()) await end()
})

/** Starts a feed behind a real server, without the admin operation. */
async function feedOn(status: () => Promise<object> = async () => ({ verdict: 'well' })) {
  const feed = new EventFeed({ status, sources: () => [] })
  const responses: ServerResponse[] = []
  let options: ReaderOptions = { topics: ALL, scope: EVERYTHING, language: 'en', isAllowed: () => true }
  const server = createServer((_request, response) => {
    responses.push(response)
    const reader = new EventReader(response, {}, options)
    response.once('close', () => feed.remove(reader))
    feed.add(reader)
  })
  const port = await listening(server)
  ending.push(
    () => server.close(),
    () => feed.close(),
  )
  await feed.wake()
  const jobs = everySecond(feed.jobs)
  ending.push(() => jobs.stop())
  const follow = async (more: Partial<ReaderOptions> = {}): Promise<Followed> => {
    options = { ...options, ...more }
    const stream = await followEvents(`http://127.0.0.1:${port}/`, {})
    ending.push(() => stream.close())
    return stream
  }
  return { feed, follow, responses }
}

it('the event feed disconnects a reader that never reads before a megabyte waits for it, and serves the others', async () => {
  const { feed, follow, responses } = await feedOn()
  const [sleeping, awake] = [await follow({ topics: new Set(['audit']) }), await follow()]
  sleeping.pause()
  const data = { text: 'x'.repeat(65_000) }
  let most = 0
  for (let told = 0; feed.size === 2 && told < 1000; told++) {
    feed.tell('audit', { dataFor: () => data })
    most = Math.max(most, responses[0].writableLength)
    await expect.poll(() => responses[1].writableLength, { timeout: 30_000, interval: 1 }).toBe(0)
  }
  expect(feed.size).toBe(1)
  expect(most).toBeGreaterThan(500_000)
  expect(most).toBeLessThan(1_048_576 + 10_000)
  feed.tell('audit', { dataFor: () => ({ text: 'last' }) })
  await expect.poll(() => awake.events('audit').at(-1)?.data, soon).toEqual({ text: 'last' })
})

it('the event feed closes although events wait for a reader that does not read', async () => {
  const { feed, follow, responses } = await feedOn()
  const sleeping = await follow()
  sleeping.pause()
  const data = { text: 'x'.repeat(65_000) }
  await vi.waitFor(() => {
    feed.tell('audit', { dataFor: () => data })
    expect(responses[0].writableLength).toBeGreaterThan(200_000)
  }, soon)
  feed.close()
  expect(responses[0].destroyed).toBe(true)
})

it('the event feed makes one status for all readers, and none while nobody follows it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let made = 0
  const { follow } = await feedOn(async () => ({ made: ++made }))
  await follow({ topics: new Set(['audit']) })
  await vi.advanceTimersByTimeAsync(3000)
  expect(made).toBe(0)
  const streams = await Promise.all(Array.from({ length: 20 }, () => follow({ topics: ALL })))
  await vi.advanceTimersByTimeAsync(2000)
  for (const stream of streams)
    await expect.poll(() => stream.events('status').map(({ data }) => data), soon).toEqual([{ made: 1 }, { made: 2 }])
})

it('the event feed sends a comment every 15 s to a reader that gets no event', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { follow } = await feedOn()
  const stream = await follow({ topics: new Set(['audit']) })
  await vi.advanceTimersByTimeAsync(13_000)
  const before = stream.text()
  await vi.advanceTimersByTimeAsync(2000)
  await expect.poll(() => stream.text().slice(before.length), soon).toBe(':\n\n')
})

it('the event feed resets a reader that resumes after nobody has read for five minutes', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { feed, follow } = await feedOn()
  const first = await follow()
  await expect.poll(() => first.lastId(), soon).toBeDefined()
  first.close()
  await expect.poll(() => feed.size, soon).toBe(0)
  await vi.advanceTimersByTimeAsync(310_000)
  await feed.wake()
  const again = await follow({ lastId: first.lastId() })
  await expect.poll(() => again.events('reset').length, soon).toBe(1)
})

it('the event feed sends a reader of one device only the row of that device', () => {
  const event = new EventLog().add('device', { rows: [{ id: '007' }, { id: '8' }] })
  expect(event.bytes.toString()).toMatch(
    /^id: \w+-1\nevent: device\ndata: {"results":\[{"id":"007"},{"id":"8"}\]}\n\n$/,
  )
  expect(event.bytesFor({ scope: EVERYTHING, language: 'en', device: '7' })?.toString()).toContain(
    'data: {"results":[{"id":"007"}]}\n\n',
  )
  expect(event.bytesFor({ scope: EVERYTHING, language: 'en', device: '9' })).toBeUndefined()
})

it('the event feed keeps the last 1,000 events, at most 8 MiB, and knows which are gone', () => {
  const log = new EventLog()
  const first = log.lastId
  for (let number = 0; number < 1001; number++) log.add('audit', { dataFor: () => ({ number }) })
  expect(log.since(first)).toBeUndefined()
  expect(log.since(first.replace('-0', '-1'))?.length).toBe(1000)
  for (let number = 0; number < 100; number++) log.add('audit', { dataFor: () => ({ text: 'x'.repeat(100_000) }) })
  expect(log.since(first.replace('-0', '-1010'))).toBeUndefined()
  expect(log.since(log.lastId)).toEqual([])
  log.add('status', { dataFor: () => ({}) })
  expect(log.since(log.lastId)).toEqual([])
})
