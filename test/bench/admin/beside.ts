import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { cpuTimes, endChild, messageOf } from '../../support/processes.ts'
import { type Ask, changes, reads } from './asks.ts'
import { SENDER } from './fleet.ts'
import { startAdminSite } from './site.ts'

/**
 * What requests to the admin port cost the gateway: at 20,000 fixes a second its acknowledgements and its CPU time, without
 * requests and with five a second of every operation in turn. Medians of pairs of short windows of one run, in changing order:
 * what the machine does beside it counts for both.
 */
export async function benchBeside(pairs: number) {
  const site = await startAdminSite()
  const port = site.product.ports['tcp/teltonika']
  const plan = { port, vans: 2000, fixesPerPacket: 10, packetsPerSecond: 2000, maxBehind: 0, keepSamples: false }
  const sender = fork(SENDER, [JSON.stringify(plan)])
  const [gateway] = site.product.pidsOf('gateway')
  const [admin] = site.product.pidsOf('admin')
  const processes = new Map(Object.entries({ gateway, admin, redis: site.server.pid }))
  const figures: Record<'without' | 'asked', Window[]> = { without: [], asked: [] }
  const asking = new Asking(site.ask)
  try {
    await messageOf(sender, 'ready')
    await pause(WARM_UP_MS)
    for (let pair = 0; pair < pairs; pair++)
      for (const kind of pair % 2 === 0 ? (['without', 'asked'] as const) : (['asked', 'without'] as const)) {
        if (kind === 'asked') asking.begin()
        figures[kind].push(await window(sender, processes))
        if (kind === 'asked') await asking.end()
        console.log(`${kind.padEnd(8)} ${JSON.stringify(figures[kind].at(-1))}`)
      }
    const [without, asked] = [mediansOf(figures.without), mediansOf(figures.asked)]
    const higher = figures.asked.filter((each, n) => each.ackP99Ms > figures.without[n].ackP99Ms).length
    return { without, asked, p99_higher_with_requests: `${higher} of ${pairs}`, requests: asking.asked }
  } finally {
    await endChild(sender)
    await site.end()
  }
}

type Window = Awaited<ReturnType<typeof window>>

async function window(sender: ChildProcess, processes: ReadonlyMap<string, number>) {
  sender.send({ reset: true })
  const before = cpuTimes(processes)
  await pause(WINDOW_MS)
  const after = cpuTimes(processes)
  sender.send({ samples: true })
  const { acks } = await messageOf<{ acks: number[] }>(sender, 'samples')
  const us = (name: string) => round((((after.get(name) ?? 0) - (before.get(name) ?? 0)) * 1000) / (acks.length * 10))
  const sorted = acks.toSorted((a, b) => a - b)
  const share = (of: number) => round(sorted[Math.floor(sorted.length * of)])
  return {
    fixesPerS: Math.round((acks.length * 10_000) / WINDOW_MS),
    ackP50Ms: share(0.5),
    ackP99Ms: share(0.99),
    gatewayUs: us('gateway'),
    redisUs: us('redis'),
    adminUs: us('admin'),
  }
}

/** Asks five times a second, one operation after the other. */
class Asking {
  asked = 0
  readonly #ask: (request: Ask) => Promise<unknown>
  readonly #reads: readonly Ask[]
  readonly #answers: Promise<unknown>[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(ask: (request: Ask) => Promise<unknown>) {
    this.#ask = ask
    this.#reads = Object.values(reads()).flatMap((paths) => paths.map((path) => ({ method: 'GET', path }) as const))
  }

  begin(): void {
    this.#timer = setInterval(() => this.#answers.push(this.#ask(this.#next())), 200)
  }

  async end(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#answers)
  }

  /** Each time that all were asked, the changes are those of others. */
  #next(): Ask {
    const each = [...this.#reads, ...Object.values(changes(0)).flat()].length
    const all = [...this.#reads, ...Object.values(changes(Math.floor(this.asked / each))).flat()]
    return all[(this.asked++ * STEP) % each]
  }
}

function mediansOf(windows: readonly Window[]): Window {
  const names = Object.keys(windows[0]) as (keyof Window)[]
  const median = (name: keyof Window) =>
    windows.map((each) => each[name]).toSorted((a, b) => a - b)[Math.floor(windows.length / 2)]
  return Object.fromEntries(names.map((name) => [name, median(name)])) as unknown as Window
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

const WARM_UP_MS = 10_000
const WINDOW_MS = 5000
/** So that neighbours in the list, which are alike, are not asked in one window. */
const STEP = 7
