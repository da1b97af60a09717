import { fork } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { assignmentField, PUT_SOURCE, putLine } from '../../src/roster/assignment.ts'
import { Replica } from '../../src/roster/replica.ts'
import type { LineChange } from '../../src/roster/roster.ts'
import { readRosterVersion, writeRoster } from '../../src/roster/table.ts'
import { connect, type Store } from '../../src/store/index.ts'
import { startTestRedis } from '../support/redis.ts'

/**
 * Measures the roster with 100,000 devices and 100,000 assignments, each replica in a process of its own: what loading costs (CPU,
 * without the start of the process), how long it takes until one changed line is in effect in all of them, and what that costs
 * each. The last line is JSON.
 */
const DEVICES = 100_000
const REPLICAS = 3
const WRITES = 200
const IDLE_S = 8

const url = process.argv[2]
await (url === undefined ? measure() : serveReplica(url))

async function measure(): Promise<void> {
  const server = await startTestRedis({ maxMemory: 1024 ** 3 })
  const redis = await connected(server.url)
  const devices = Array.from({ length: DEVICES }, (_, n) => {
    return [
      String(n),
      { id: String(n), name: `Van ${n}`, company_id: '7', courier_id: `${n}`, source: PUT_SOURCE },
    ] as const
  })
  const assignments = Array.from({ length: DEVICES }, (_, n) => putLine(lineOf(n, n), { company_id: '7', line: n }))
  const fillMs = await msOf(() => writeRoster(redis, { devices, assignments }, 0))
  const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => startReplica(server.url)))
  const loaded = await Promise.all(replicas.map((replica) => replica.ask('loaded')))
  // Meanwhile ends what loading leaves behind, such as the collection of garbage.
  const idle = await Promise.all(replicas.map((replica) => replica.ask('idle')))
  const before = await Promise.all(replicas.map((replica) => replica.ask('cpu')))
  const delays: number[] = []
  const beganAt = performance.now()
  for (let n = 0; n < WRITES; n++) {
    const changed: LineChange = [
      [assignmentField(lineOf(n, n)), undefined],
      putLine(lineOf(n, n + 1_000_000), { company_id: '7', line: n }),
    ]
    const began = Date.now()
    const version = await writeRoster(redis, { assignments: changed }, await readRosterVersion(redis))
    const applied = await Promise.all(replicas.map((replica) => replica.ask('applied', version ?? 0)))
    delays.push(Math.max(...applied) - began)
  }
  const seconds = (performance.now() - beganAt) / 1000
  const after = await Promise.all(replicas.map((replica) => replica.ask('cpu')))
  const perChange = after.map((used, index) => (used - before[index] - idle[index] * seconds) / WRITES)
  console.log(
    JSON.stringify({
      fill_ms: fillMs,
      load_cpu_ms: Math.round(Math.max(...loaded)),
      in_effect_max_ms: Math.max(...delays),
      in_effect_p50_ms: delays.toSorted((a, b) => a - b)[WRITES / 2],
      cpu_per_change_ms: Math.round(Math.max(...perChange) * 10) / 10,
      cpu_idle_ms_per_s: Math.round(Math.max(...idle) * 10) / 10,
    }),
  )
  for (const { stop } of replicas) stop()
  redis.disconnect()
  await server.stop()
}

function lineOf(device: number, route: number) {
  const [from, until] = [1_700_000_000, 1_900_000_000]
  return { device: `Van ${device}`, courier_id: '', route_id: `${route}`, from, until }
}

async function connected(redisUrl: string): Promise<Store> {
  const redis = connect(redisUrl, 'bench')
  await once(redis, 'ready')
  return redis
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return Math.round(performance.now() - began)
}

type Question = 'loaded' | 'idle' | 'cpu' | 'applied'

/** Starts a replica in a process of its own; `ask` answers with ms. */
async function startReplica(redisUrl: string) {
  const child = fork(fileURLToPath(import.meta.url), [redisUrl])
  const ask = async (question: Question, version = 0): Promise<number> => {
    child.send({ question, version })
    return Number((await once(child, 'message'))[0])
  }
  await once(child, 'message')
  return { ask, stop: () => child.kill() }
}

/** In the process of a replica. */
async function serveReplica(redisUrl: string): Promise<void> {
  const redis = await connected(redisUrl)
  const startedAt = cpuMs()
  const replica = new Replica(redis, pino({ level: 'warn' }))
  await replica.first
  const loadMs = cpuMs() - startedAt
  const appliedAt = new Map<number, number>()
  const applied = new EventEmitter()
  replica.follow(() => {
    appliedAt.set(replica.version, Date.now())
    applied.emit('version')
  })
  const answer = async ({ question, version }: { question: Question; version: number }) => {
    const began = cpuMs()
    if (question === 'applied') while (!appliedAt.has(version)) await once(applied, 'version')
    if (question === 'idle') await new Promise((resolve) => setTimeout(resolve, IDLE_S * 1000))
    const idle = (cpuMs() - began) / IDLE_S
    const answers = { applied: appliedAt.get(version), idle, loaded: loadMs, cpu: cpuMs() }
    process.send?.(answers[question])
  }
  process.on('message', (question: Parameters<typeof answer>[0]) => void answer(question))
  process.send?.('ready')
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
