import { readFileSync } from 'node:fs'
import { HeardBook } from '../../src/ingest/heard.ts'
import { createSession } from '../../src/ingest/device.ts'
import type { Redis } from '../../src/lanes/index.ts'
import { assignmentField } from '../../src/roster/roster.ts'
import { deviceText, writeRoster } from '../../src/roster/table.ts'
import { connected, NOWHERE, store } from '../support/admin.ts'
import { startProduct } from '../support/product.ts'
import { startTestRedis } from '../support/redis.ts'

/**
 * Measures each operation of the admin port that reads, with 100,000 devices and 20,000 waiting lanes: the CPU time of the admin
 * process during a request, the least of some. What the process does beside it, such as its look at all devices, is in it. Each is
 * asked with a token for all companies, with one for the company that has all devices, and with one for a company that has none.
 * Exit 1 where one takes more than 100 ms; `[FILTER]`: only paths with this text. Linux alone.
 */
const DEVICES = 100_000
const LANES = 20_000
const REQUESTS = 7
const MOST_MS = 100

/** By name: the token, and the statuses of its answers. */
const TOKENS = {
  'all companies': { token: 'canary-bench-all', statuses: [200] },
  'company 7': { token: 'canary-bench-7', statuses: [200, 403] },
  'company 8': { token: 'canary-bench-8', statuses: [200, 403, 404] },
}
const server = await startTestRedis({ maxMemory: 1024 ** 3 })
const redis = await connected(server.url)
await fill(redis)
const yaml = `
redis: { url: "${server.url}" }
tracking: { base_url: "${NOWHERE}" }
admin:
  port: 0
  tokens: [canary-bench-all, { token: canary-bench-7, companies: [7] }, { token: canary-bench-8, companies: [8] }]
companies: [{ company_id: 7, apikey: canary-apikey }, { company_id: 8, apikey: canary-apikey }]
log: { format: json, level: info }
`
const product = await startProduct({}, yaml)
try {
  const [pid] = product.pidsOf('admin')
  const device = idOf(4711)
  // Until the index and the account have read all.
  while (((await read('/admin/status')) as { vans?: { never: number } }).vans?.never !== DEVICES / 4)
    await new Promise((resolve) => setTimeout(resolve, 500))
  const slow: string[] = []
  for (const path of await pathsOf(device)) {
    if (!path.includes(process.argv[2] ?? '')) continue
    for (const [name, { token, statuses }] of Object.entries(TOKENS)) {
      const each: { cpu: number; wall: number; status: number }[] = []
      for (let request = 0; request < REQUESTS; request++) {
        const [cpu, began] = [cpuMs(pid), performance.now()]
        const { status } = await ask(path, token)
        each.push({ cpu: cpuMs(pid) - cpu, wall: performance.now() - began, status })
        if (!statuses.includes(status)) throw new Error(`${path}: ${status} for ${name}`)
      }
      const cpu = Math.min(...each.map((one) => one.cpu))
      const wall = Math.min(...each.map((one) => one.wall))
      const figures = `${cpu.toFixed(1).padStart(7)} ms CPU ${wall.toFixed(1).padStart(7)} ms  ${each[0].status}`
      console.log(`${figures}  ${name.padEnd(13)}  ${path}`)
      if (cpu > MOST_MS) slow.push(`${path} (${name})`)
    }
  }
  console.log(JSON.stringify({ devices: DEVICES, lanes: LANES, over_100_ms: slow }))
  process.exitCode = slow.length === 0 ? 0 : 1
} finally {
  await product.end()
  redis.disconnect()
  await server.stop()
}

/** The first three quarters of the devices are heard; 20,000 of these have a line for today, and a lane in which something waits. */
async function fill(to: Redis): Promise<void> {
  const devices = Array.from({ length: DEVICES }, (_, n) => {
    const ids = { company_id: '7', courier_id: `${n + 1}`, route_id: `${n + 1}` }
    return [idOf(n), deviceText({ id: idOf(n), name: `Van ${n}`, ...ids })] as const
  })
  const [from, until] = [0, 1].map((days) => Math.floor(Date.now() / 86_400_000 + days) * 86_400)
  const assignments = Array.from({ length: LANES }, (_, n) => {
    const line = { device: idOf(n), courier_id: `${n + 1}`, route_id: `${n + 1}`, from, until }
    return [assignmentField(line), JSON.stringify({ company_id: '7', line: n + 1 })] as const
  })
  await writeRoster(to, { devices, assignments }, 0)
  const book = new HeardBook(to)
  const now = Date.now()
  for (let n = 0; n < (DEVICES * 3) / 4; n++) {
    const [id, at] = [idOf(n), now - n * 10]
    book.spoke(id, Object.assign(createSession('udp', '10.1.2.3:40001'), { device: id, now: at }), 'teltonika')
    const fix = { time: at, latitude: 45 + (n % 1000) / 100, longitude: 5 + n / 10_000, speed: n % 30, valid: true }
    book.stored(id, { fix: { at, fix } })
  }
  await book.close()
  for (let n = 0; n < LANES; n += 500)
    await Promise.all(
      Array.from({ length: 500 }, (_, at) => store(to, `7/${n + at + 1}/${n + at + 1}`, { device: idOf(n + at) })),
    )
}

/** Asks with the token for all companies. */
async function read(path: string): Promise<unknown> {
  return JSON.parse((await ask(path, TOKENS['all companies'].token)).text)
}

async function ask(path: string, token: string): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`http://127.0.0.1:${product.ports.admin}${path}`, { headers })
  return { status: answer.status, text: await answer.text() }
}

/** Each path that is read without side effects, and the lists by each of their filters. */
async function pathsOf(device: string): Promise<string[]> {
  const { paths } = (await read('/openapi.json')) as { paths: Record<string, Record<string, unknown>> }
  const own = Object.entries(paths).filter(([path, operations]) => operations.get && path.startsWith('/admin/'))
  const plain = own.map(([path]) => path.replace('{id}', device)).filter((path) => path !== '/admin/events')
  const filters = ['moving', 'standing', 'silent', 'gps_old', 'no_route', 'held', 'never', 'unknown'].map(
    (condition) => `condition=${condition}`,
  )
  const devices = [
    ...filters,
    'state=online',
    'state=offline',
    'mapping=no_route',
    'q=van+99999',
    'q=nobody',
    'max_results=1000',
  ]
  return [
    ...plain,
    ...devices.map((query) => `/admin/devices?${query}`),
    '/admin/lanes?sort=oldest',
    '/admin/lanes?max_results=1000',
    '/admin/routes?company_id=7&at=2026-11-20T08:00:00Z',
    '/metrics',
    '/readyz',
  ]
}

function idOf(n: number): string {
  return String(350_000_000_000_000 + n)
}

/** What the main thread of a process has run. */
function cpuMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
}
