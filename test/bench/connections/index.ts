import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { commandOptions } from '../../support/command-options.ts'
import { endChild, residentBytes } from '../../support/processes.ts'
import { collectedMemory } from './memory.ts'
import type { SenderReport } from './sender.ts'
import { startProductRig } from '../e2e/rig.ts'

/**
 * Many vans with a connection each that send a fix once a minute: what a connection takes, whether all log in within a minute, how
 * long answers take, also after a restart of one gateway and of all. Ends by itself, with a line of JSON, and exit 1 if
 * something took longer or more than it may. `--connections N`: 10,000 unless said; `--gateways N`: one for each 14,000;
 * `--seconds N`: for how long they send before the restarts.
 */
const values = commandOptions({
  connections: { type: 'string' },
  gateways: { type: 'string' },
  seconds: { type: 'string' },
})
const connections = Number(values.connections) || 10_000
const gateways = Number(values.gateways) || Math.ceil(connections / 14_000)
const seconds = Number(values.seconds) || 90

const answers: number[] = []
const reports: (SenderReport | undefined)[] = []
let slowestWaits = 0
const SENDER = fileURLToPath(new URL('sender.ts', import.meta.url))
const CONNECTIONS_OF_SENDER = 18_000
const LOGIN_MS = 40_000
const GIVE_UP_S = 180

const rig = await startProductRig({ vans: connections, gateways, concurrency: 256, inspect: true })
const { product } = rig
try {
  const result = await measure()
  console.log(JSON.stringify(result))
  if (!isKept(result)) process.exitCode = 1
} finally {
  await rig.stop()
}

async function measure() {
  await sleep(3000)
  const before = await collectedMemory(product)
  const senders = startSenders()
  const loginS = await untilAllIn()
  say(`${connections} connections logged in`, `${loginS} s`)
  await pass(5)
  const whileLogin = answersNow()
  say('answers meanwhile', textOf(whileLogin))
  const after = await collectedMemory(product)
  const heapBytes = Math.round((after.heap - before.heap) / connections)
  const residentBytesEach = Math.round((after.resident - before.resident) / connections)
  say('a connection', `${heapBytes} bytes of heap, ${residentBytesEach} bytes resident`)
  // The collection of garbage stops each gateway for a while.
  await pass(2)
  answersNow()
  await pass(seconds)
  const calm = answersNow()
  say('answers', textOf(calm))
  const [one] = product.pidsOf('gateway')
  process.kill(one, 'SIGTERM')
  const oneBackS = await untilAllBack()
  const whileOne = answersNow()
  say('one gateway started again: all back after', `${oneBackS} s; ${textOf(whileOne)}`)
  for (const pid of product.pidsOf('gateway')) process.kill(pid, 'SIGKILL')
  const allBackS = await untilAllBack()
  await pass(30)
  const afterAll = answersNow()
  say('all gateways started again: all back after', `${allBackS} s; ${textOf(afterAll)}`)
  const resident = product.pidsOf('gateway').map(residentBytes)
  say('gateways resident at the end', resident.map((bytes) => `${Math.round(bytes / 2 ** 20)} MB`).join(', '))
  for (const sender of senders) await endChild(sender)
  return {
    connections,
    gateways,
    login_s: loginS,
    login: whileLogin,
    heap_bytes_per_connection: heapBytes,
    resident_bytes_per_connection: residentBytesEach,
    calm,
    one_restarted: { back_s: oneBackS, ...whileOne },
    all_restarted: { back_s: allBackS, ...afterAll },
  }
}

type Result = Awaited<ReturnType<typeof measure>>

function isKept({ login_s, heap_bytes_per_connection, ...measured }: Result): boolean {
  const { login, calm, one_restarted, all_restarted } = measured
  const slowest = Math.max(...[login, calm, one_restarted, all_restarted].map(({ max_ms }) => max_ms))
  return login_s <= 60 && heap_bytes_per_connection <= 6 * 1024 && slowest <= 5000
}

/** As many as the limit of open files of a process asks for. */
function startSenders(): ChildProcess[] {
  const count = Math.ceil(connections / CONNECTIONS_OF_SENDER)
  return Array.from({ length: count }, (_, at) => {
    const first = Math.floor((connections * at) / count)
    const vans = Math.floor((connections * (at + 1)) / count) - first
    const plan = { port: rig.port, first, vans, everyMs: 60_000, loginMs: LOGIN_MS }
    const sender = fork(SENDER, [JSON.stringify(plan)])
    sender.on('message', (report: SenderReport) => {
      reports[at] = report
      for (const ms of report.answersMs) answers.push(ms)
      slowestWaits = Math.max(slowestWaits, report.oldestMs)
    })
    return sender
  })
}

/** Returns after how many seconds all were logged in again, of which some have lost their connection. */
async function untilAllBack(): Promise<number> {
  const since = performance.now()
  // The senders report once a second.
  while (loggedIn() === connections && performance.now() - since < 10_000) await sleep(50)
  await untilAllIn()
  return Math.round((performance.now() - since) / 100) / 10
}

function loggedIn(): number {
  return reports.reduce((sum, report) => sum + (report?.loggedIn ?? 0), 0)
}

/** Returns after how many seconds all were logged in. */
async function untilAllIn(): Promise<number> {
  const since = performance.now()
  for (let reported = 0; loggedIn() < connections; await sleep(200)) {
    const passedS = (performance.now() - since) / 1000
    if (passedS > GIVE_UP_S) throw new Error(`after ${GIVE_UP_S} s only ${loggedIn()} are logged in: ${product.said()}`)
    if (passedS > reported + 10) say('logged in', `${loggedIn()} after ${Math.round((reported = passedS))} s`)
  }
  return Math.round((performance.now() - since) / 100) / 10
}

function pass(forS: number): Promise<void> {
  return sleep(forS * 1000)
}

/** Of all answers since the last call. */
function answersNow() {
  const sorted = answers.splice(0).toSorted((one, other) => one - other)
  const at = (share: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN)
  const max = Math.round(Math.max(sorted.at(-1) ?? 0, slowestWaits))
  slowestWaits = 0
  return { answers: sorted.length, p50_ms: at(0.5), p99_ms: at(0.99), max_ms: max }
}

function textOf({ answers: count, p50_ms, p99_ms, max_ms }: ReturnType<typeof answersNow>): string {
  return `${count} answers: ${p50_ms} ms median, ${p99_ms} ms p99, ${max_ms} ms at most`
}

function say(what: string, figure: string): void {
  console.log(`${what.padEnd(44)} ${figure}`)
}
