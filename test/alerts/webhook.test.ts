import { createHmac } from 'node:crypto'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { type AlertClock, Outbox } from '../../src/alerts/outbox.ts'
import { webhookTransport } from '../../src/alerts/transports.ts'
import { fakeClock, finding, news, webhookReceiver } from '../support/alerts.ts'

const PAGE = 'https://gps.example:8080'
const BEGINS = news()
const HOUR = 3_600_000

function transport(url: string, secret?: string) {
  return webhookTransport({ url: `${url}/hook/canary-path?key=canary-query`, secret, format: 'waybridge' }, PAGE)
}

async function receiver(...answer: Parameters<typeof webhookReceiver>) {
  const opened = await webhookReceiver(...answer)
  onTestFinished(opened.close)
  return opened
}

/** Returns an outbox: its log, and a function that sends and resolves when the message is done. */
function outboxTo(url: string, clock: AlertClock) {
  const log: string[] = []
  const outbox = new Outbox(transport(url, 'canary-secret'), pino({}, { write: (line) => void log.push(line) }), clock)
  onTestFinished(() => outbox.close())
  const send = () => new Promise<boolean>((done) => void outbox.add(BEGINS, done))
  return { log, send, outbox }
}

it('a webhook gets a finding as the admin port shows it, with a signature and links', async () => {
  const { url, posts } = await receiver()
  await transport(url, 'canary-secret').send([BEGINS], AbortSignal.timeout(5000))
  const [{ headers, body }] = posts
  expect(JSON.parse(body)).toEqual({
    change: 'begins',
    id: 'incident-1',
    ...finding(),
    plain: { message: finding().message, action: finding().action },
    sinceAt: undefined,
    since_at: '2026-11-22T07:41:00.000Z',
    links: { page: `${PAGE}/#/findings/upstream_down`, paragraph: 'src/diagnose/README.md#upstream_down' },
  })
  const timestamp = headers['waybridge-timestamp'] as string
  expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(60)
  const hmac = createHmac('sha256', 'canary-secret').update(`${timestamp}.${body}`).digest('hex')
  expect(headers['waybridge-signature']).toBe(`v1=${hmac}`)
  expect(headers['content-type']).toBe('application/json')
  expect(JSON.stringify({ headers, body })).not.toContain('canary')
})

it('a webhook without a secret gets no signature, and an end with its time', async () => {
  const { url, posts } = await receiver()
  const message = news({ change: 'ends', endedAt: Date.UTC(2026, 10, 22, 8) })
  await transport(url).send([message], AbortSignal.timeout(5000))
  expect(posts[0].headers['waybridge-signature']).toBeUndefined()
  expect(JSON.parse(posts[0].body)).toMatchObject({ change: 'ends', ended_at: '2026-11-22T08:00:00.000Z' })
})

it('a webhook that answers 500 for an hour is tried less and less often, then given up, with one log line', async () => {
  const { url, posts } = await receiver((response) => response.writeHead(500).end('no'))
  const clock = fakeClock()
  const { log, send } = outboxTo(url, clock)
  const began = clock.now()
  expect(await send()).toBe(false)
  expect(clock.now() - began).toBeGreaterThanOrEqual(HOUR)
  expect(clock.now() - began).toBeLessThan(HOUR + 600_000)
  expect(clock.waits.slice(0, 8)).toEqual([5, 10, 20, 40, 80, 160, 300, 300].map((seconds) => seconds * 1000))
  expect(posts).toHaveLength(clock.waits.length)
  expect(new Set(posts.map(({ headers }) => headers['waybridge-delivery'])).size).toBe(1)
  expect(log).toHaveLength(1)
  expect(log[0]).toContain('it answers 500: no')
  expect(log.join('')).not.toContain('canary')
})

it('a webhook that recovers gets the waiting messages in order', async () => {
  let status = 503
  const { url, posts } = await receiver((response) =>
    response.writeHead(posts.length < 4 ? status : (status = 200)).end(),
  )
  const { log, send } = outboxTo(url, fakeClock())
  await Promise.all([send(), send()])
  expect(posts.map(({ headers }) => headers['waybridge-delivery'])).toHaveLength(5)
  expect(log.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    expect.stringMatching(/^alerts: webhook 127\.0\.0\.1:\d+ is not told of findings/),
    expect.stringMatching(/is told again$/),
  ])
})

it('a redirect of a webhook to an internal address is refused without a request to it', async () => {
  const internal = await receiver()
  const { url } = await receiver((response) => response.writeHead(307, { location: internal.url }).end())
  await expect(transport(url).send([BEGINS], AbortSignal.timeout(5000))).rejects.toThrow(
    'it redirects (307): redirects are not followed',
  )
  expect(internal.posts).toEqual([])
})

it('a request to a webhook that hangs ends after its time limit, even in the middle of the answer', async () => {
  const silent = await receiver(() => {})
  const sent = transport(silent.url).send([BEGINS], AbortSignal.timeout(300))
  await expect(sent).rejects.toThrow('it does not answer within 10 s')
  const halting = await receiver((response) => response.write('a'))
  await expect(transport(halting.url).send([BEGINS], AbortSignal.timeout(5000))).resolves.toBeUndefined()
})

it('an outbox is bounded, and closes while a webhook hangs', async () => {
  const { url, posts } = await receiver(() => {})
  const { outbox } = outboxTo(url, fakeClock())
  const taken = Array.from({ length: 1100 }, () => outbox.add(BEGINS, () => {}))
  expect(taken.filter(Boolean)).toHaveLength(1000)
  await expect.poll(() => posts.length).toBe(1)
  await outbox.close()
  expect(outbox.add(BEGINS, () => {})).toBe(false)
})
