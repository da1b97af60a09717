import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { endChild } from '../../support/processes.ts'
import { type Ask, changes, reads, undo } from './asks.ts'
import { benchBeside } from './beside.ts'
import { DEVICES, drive, LANES } from './fleet.ts'
import { startAdminSite, TOKENS } from './site.ts'

/**
 * Measures each operation of the admin port with 100,000 devices and 20,000 waiting lanes, while 1,000 fixes a second arrive: the
 * CPU time of the admin process and of Redis during a request, and until the answer, the least of some. What the processes do
 * beside it is in it. What reads is asked with a token for all companies, with one for the company that has all devices, and
 * with one for a company that has none.
 * Exit 1 if a request takes more than 100 ms of CPU; `[PATTERN]`: only what matches it. Linux alone.
 * `beside [PAIRS]`: what five requests a second cost the gateway at 20,000 fixes a second.
 */
if (process.argv[2] === 'beside') {
  console.log(JSON.stringify({ beside: await benchBeside(Number(process.argv[3]) || 15) }))
  process.exit()
}
const REQUESTS = 7
const MOST_MS = 100
/** Metrics are kept for a second. */
const KEPT_MS = 1100
const ASKED = new RegExp(process.argv[2] ?? '')

const site = await startAdminSite()
const { ask, product, server } = site
const [pid] = product.pidsOf('admin')
const sender = await drive(product.ports['tcp/teltonika'])
const slow: string[] = []
try {
  await haveAll()
  for (const path of Object.values(reads()).flat())
    for (const [name, by] of Object.entries(TOKENS)) await measure(`${name.padEnd(13)}  ${path}`, () => get(path), by)
  for (const [id, requests] of Object.entries(changes(0)))
    for (const [at, { method, path }] of requests.entries())
      await measure(`${method.padEnd(13)}  ${path}`, (n) => changes(n)[id][at])
  await measure('POST           /admin/roster/undo', async (n) =>
    undo((await ask(changes(REQUESTS + n).putRoutes[0])).text),
  )
  console.log(JSON.stringify({ devices: DEVICES, lanes: LANES, over_100_ms: slow }))
  process.exitCode = slow.length === 0 ? 0 : 1
} finally {
  await endChild(sender)
  await site.end()
}

async function measure(label: string, request: (n: number) => Ask | Promise<Ask>, by = TOKENS['all companies']) {
  if (!ASKED.test(label)) return
  const each: { cpu: number; inRedis: number; wall: number; status: number }[] = []
  for (let n = 0; n < REQUESTS; n++) {
    const asked = await request(n)
    if (asked.path === '/metrics') await pause(KEPT_MS)
    const [cpu, inRedis, began] = [cpuMs(pid), cpuMs(server.pid), performance.now()]
    const { status, text } = await ask(asked, by.token)
    each.push({ cpu: cpuMs(pid) - cpu, inRedis: cpuMs(server.pid) - inRedis, wall: performance.now() - began, status })
    if (!by.statuses.includes(status)) throw new Error(`${label}: ${status} ${text}`)
  }
  const least = (of: 'cpu' | 'inRedis' | 'wall') => Math.min(...each.map((one) => one[of]))
  const most = Math.max(...each.map(({ wall }) => wall))
  const figures = [least('cpu'), least('inRedis'), least('wall'), most].map((ms) => ms.toFixed(1).padStart(7))
  console.log(`${figures.join('')}  ${each[0].status}  ${label}`)
  if (least('cpu') > MOST_MS) slow.push(label)
}

/** @throws if an operation is not measured */
async function haveAll(): Promise<void> {
  const { paths } = JSON.parse((await ask(get('/openapi.json'))).text) as {
    paths: Record<string, Record<string, { operationId: string }>>
  }
  const measured = new Set([...Object.keys(reads()), ...Object.keys(changes(0)), 'undoPut'])
  const missing = Object.values(paths)
    .flatMap((operations) => Object.values(operations))
    .filter(({ operationId }) => !measured.has(operationId))
  if (missing.length > 0) throw new Error(`not measured: ${missing.map(({ operationId }) => operationId).join()}`)
}

function get(path: string): Ask {
  return { method: 'GET', path }
}

/** What the main thread of a process has run. */
function cpuMs(of: number): number {
  return Number(readFileSync(`/proc/${of}/schedstat`, 'utf8').split(' ')[0]) / 1e6
}
