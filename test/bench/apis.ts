import { createServer, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLogger } from '../../src/observe/log.ts'
import { startPushing } from '../../src/push/index.ts'
import { Appender, connect, packDevice, packRecords, type Store } from '../../src/store/index.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { UNFILTERED } from '../support/appending.ts'
import { listening } from '../support/listening.ts'
import { startTestRedis } from '../support/redis.ts'

const LANES = 250
const EVERY_MS = 1000
const ROUNDS = 5
const SECONDS = 12
const ANSWER_MS = 20
/** What an API that is down for an hour leaves behind: each lane with a fix every ten seconds. */
const WAITING = 360
const COMPANIES = ['1', '2', '3', '4', '5']
const DEAD = '5'

const storedAt = new Map<string, number>()
let delays: number[] = []

/**
 * Measures what one of five APIs that is down costs the other four: from a fix stored to its arrival at its API, first with all five up,
 * then with one down for which an hour of fixes waits, in turns.
 */
export async function benchApis(): Promise<object> {
  const server = await startTestRedis({ maxMemory: 1024 ** 3 })
  const redis = connect(server.url, 'bench')
  await new Promise((resolve) => redis.once('ready', resolve))
  const servers = await Promise.all(COMPANIES.map(startApi))
  const [usual, ...others] = servers.map(({ url }) => ({ url, client: clientOf(url) }))
  const logger = createLogger('bench', { level: 'fatal', format: 'json' })
  const bounds = { concurrency: 64, max_requests_per_s: null }
  const worker = startPushing({
    redis: connect(server.url, 'worker'),
    client: usual.client,
    companyApis: new Map(
      others.map(({ url, client }, index) => [COMPANIES[index + 1], { id: url, client, ...bounds }]),
    ),
    apikeys: new Map(COMPANIES.map((company) => [company, ['key']])),
    place: () => undefined,
    batch: { max_positions: 500, max_wait: 0 },
    keep: { delivered: 0, max_memory: 0.1 },
    push: { ...bounds, redeliver_share: 0.2, first_delay: 1000, max_delay: 60_000 },
    zone: 'UTC',
    logger,
  })
  const { server: fifth, port } = servers[COMPANIES.indexOf(DEAD)]
  const [up, down]: number[][] = [[], []]
  await drive(redis, 4)
  for (let round = 0; round < ROUNDS; round++) {
    up.push(...(await drive(redis, SECONDS)))
    fifth.closeAllConnections()
    await new Promise((resolve) => fifth.close(resolve))
    for (let fixes = 0; fixes < WAITING; fixes += 10) await append(redis, DEAD, 10)
    await drive(redis, 4)
    down.push(...(await drive(redis, SECONDS)))
    await listening(fifth, port)
    while ((await redis.zcard('{wb0}:schedule')) > LANES * COMPANIES.length * 0.5) await sleep(200)
    await drive(redis, 4)
  }
  await worker.stop()
  return { up: quantiles(up), one_of_five_down: quantiles(down) }
}

/** An API that answers after a while, and notes when a fix of a lane came. */
async function startApi(company: string) {
  const server: Server = createServer((request, response) => {
    request.resume().on('end', () => {
      const [, courier] = /couriers\/(\d+)/.exec(request.url ?? '') ?? []
      const key = `${company}/${courier}`
      const at = storedAt.get(key)
      storedAt.delete(key)
      if (at !== undefined) delays.push(performance.now() - at)
      setTimeout(() => response.writeHead(200, { 'content-length': 0 }).end(), ANSWER_MS)
    })
  })
  const port = await listening(server)
  return { server, port, url: `http://127.0.0.1:${port}` }
}

function clientOf(baseUrl: string) {
  return createTrackingClient({ baseUrl, timeoutMs: 60_000, connections: 64 })
}

/** Vans of all companies send for so long. Returns the delays of those whose API is never down, ms. */
async function drive(redis: Store, seconds: number): Promise<number[]> {
  delays = []
  for (let second = 0; second < seconds; second++) {
    const began = performance.now()
    for (const company of COMPANIES) await append(redis, company, 1)
    await sleep(Math.max(0, EVERY_MS - (performance.now() - began)))
  }
  await sleep(1000)
  return delays
}

/** So many fixes in each lane of a company. Times are noted of companies whose API is never down. */
async function append(redis: Store, company: string, fixes: number): Promise<void> {
  const appender = new Appender(redis, UNFILTERED)
  const timestamp = Math.floor(Date.now() / 1000)
  const positions = Array.from({ length: fixes }, (_, n) => ({
    timestamp: timestamp + n,
    latitude: 52.5,
    longitude: 13.4,
    accuracy: 5,
  }))
  for (let lane = 0; lane < LANES; lane += 50) {
    const parts = Array.from({ length: 50 }, (_, n) => {
      const device = `${company}${lane + n}`
      return {
        lane: `${company}/${lane + n}/1`,
        device,
        records: packRecords(positions, packDevice(device), Date.now()),
      }
    })
    await appender.append({ parts, received: parts.length * fixes, filtered: [] })
    if (company !== DEAD) for (let n = 0; n < 50; n++) storedAt.set(`${company}/${lane + n}`, performance.now())
  }
  await appender.close()
}

function quantiles(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)])
  return { fixes: sorted.length, p50_ms: at(0.5), p99_ms: at(0.99) }
}
