import { isDeepStrictEqual } from 'node:util'
import { everySecond, within } from '../async.ts'
import type { Copy } from '../config/copies.ts'
import { fingerprintOf } from '../config/text-file.ts'
import type { Logger } from '../observe/log.ts'
import { observations } from '../observe/observations.ts'
import { jobFaults, type Shard, type Store, surveyCopies } from '../store/index.ts'
import { CopyDelivery } from './copy-delivery.ts'
import { Gate, type GateOptions } from './gate.ts'
import { jsonReceiver, osmandReceiver } from './http.ts'
import { CopyKeeper } from './keeper.ts'
import { mqttReceiver } from './mqtt.ts'
import { positionsReceiver } from './positions-v3.ts'
import type { CopyNames, Receiver } from './receiver.ts'
import { type CopySettings, logsOfCopy } from './routes.ts'
import { TimeShare } from './time-share.ts'

export { CopyKeeper } from './keeper.ts'
export { CopyRoutes } from './routes.ts'

export interface CopyingOptions extends Omit<GateOptions, 'concurrency'> {
  readonly redis: Store
  readonly settings: CopySettings
  readonly names: CopyNames
  readonly timeoutMs: number
  /** Most fixes in one request. */
  readonly most: number
  /** `redis.stop_at` */
  readonly stopAt: number
  readonly logger: Logger
}

/** Sends copies until it is stopped. Copies that are added, changed or removed take effect within a second. */
export function startCopying(options: CopyingOptions): { stop(): Promise<void> } {
  const { logger, redis, settings } = options
  const copying = new Copying(options)
  const keeper = new CopyKeeper({ redis, settings, stopAt: options.stopAt, logger })
  const jobs = everySecond({ copies: () => copying.look(), 'copies that wait': () => keeper.look() }, jobFaults(logger))
  return {
    async stop() {
      const ended = jobs.stop()
      await within(STOP_MS + LAST_WRITE_MS, copying.stop())
      await within(LAST_WRITE_MS, ended)
    },
  }
}

/** The copies that this process sends, or would send if it had the turn. */
class Copying {
  readonly #options: CopyingOptions
  readonly #sent = new Map<string, SentCopy>()
  readonly #closing = new Set<Promise<void>>()
  readonly #time = new TimeShare(SHARE)
  readonly #endNoting: () => void
  #isStopped = false

  constructor(options: CopyingOptions) {
    this.#options = options
    this.#endNoting = observations.noteLasting(() => this.#note())
  }

  async look(): Promise<void> {
    const { redis, settings } = this.#options
    const wanted = await Promise.all(
      settings.copies().map(async (copy) => {
        return { copy, gets: logsOfCopy(settings, copy.name), files: await filesOf(copy) }
      }),
    )
    this.#follow(wanted)
    if (wanted.length === 0 || this.#isStopped) return
    for (const { receiver } of this.#sent.values()) receiver?.keepAlive?.()
    await redis.inShards(async (shard) => {
      const survey = await surveyCopies(shard)
      await Promise.all(Array.from(this.#sent.values(), async (each) => each.deliveries.get(shard)?.look(survey)))
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#endNoting()
    this.#sent.forEach((sent) => this.#end(sent))
    await Promise.all(this.#closing)
  }

  /**
   * Follows changed copies. A changed copy is sent by a new sender once the requests of the earlier one have ended, which has
   * the turn until then.
   */
  #follow(wanted: readonly WantedCopy[]): void {
    for (const sent of this.#sent.values()) {
      if (sent.isToBeginAgain || !wanted.some((each) => isDeepStrictEqual(each, sent.wanted))) this.#end(sent)
    }
    for (const each of this.#isStopped ? [] : wanted)
      if (!this.#sent.has(each.copy.name)) this.#sent.set(each.copy.name, new SentCopy(each, this.#options, this.#time))
  }

  #end(sent: SentCopy): void {
    this.#sent.delete(sent.wanted.copy.name)
    const closing: Promise<void> = sent.close().finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }

  #note(): void {
    for (const { gate, problem, wanted } of this.#sent.values()) {
      const { failing } = gate
      const isLasting = failing && failing.tries >= TRIES && Date.now() - failing.since >= LASTING_MS
      const evidence = problem ?? (isLasting ? failing.reason : undefined)
      if (evidence === undefined) continue
      observations.noteState('copy_failing', {
        subject: { copy: wanted.copy.name },
        evidence: [evidence],
        count: failing?.tries ?? 1,
      })
    }
  }
}

/** A copy by its settings, the logs that it gets, and the fingerprints of its files for TLS. */
interface WantedCopy {
  readonly copy: Copy
  readonly gets: ReadonlySet<string>
  readonly files: readonly string[]
}

function filesOf({ tls }: Copy): Promise<string[]> {
  return Promise.all([tls?.ca, tls?.cert, tls?.key].flatMap((file) => (file ? fingerprintOf(file) : [])))
}

/** A file that cannot be used is read again, as it may be another process that replaces it. */
const AGAIN_MS = 10_000

/** One copy, in all shards. */
class SentCopy {
  readonly wanted: WantedCopy
  readonly gate: Gate
  readonly deliveries = new Map<Shard, CopyDelivery>()
  readonly receiver: Receiver | undefined
  /** Why it cannot be sent at all: a file for TLS that cannot be used. */
  readonly problem: string | undefined
  readonly #beganAt = performance.now()

  constructor(wanted: WantedCopy, options: CopyingOptions, time: TimeShare) {
    const { firstDelayMs, logger, maxDelayMs, redis } = options
    this.wanted = wanted
    this.gate = new Gate({ concurrency: CONCURRENCY, firstDelayMs, maxDelayMs })
    try {
      const receiver = receiverOf(wanted.copy, options)
      this.receiver = receiver
      for (const shard of redis.shards)
        this.deliveries.set(shard, new CopyDelivery({ ...wanted, shard, receiver, gate: this.gate, time, logger }))
    } catch (error) {
      this.problem = (error as Error).message
    }
  }

  get isToBeginAgain(): boolean {
    return this.problem !== undefined && performance.now() - this.#beganAt >= AGAIN_MS
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.deliveries.values(), (delivery) => delivery.close(STOP_MS)))
    this.receiver?.close()
  }
}

/** @throws Error if the files of its TLS cannot be used */
function receiverOf(copy: Copy, { most, names, timeoutMs }: CopyingOptions): Receiver {
  const options = { copy, names, timeoutMs, connections: CONCURRENCY, most }
  if (/^mqtts?:/.test(copy.to)) return mqttReceiver(options)
  if (copy.format === 'osmand') return osmandReceiver(options)
  return copy.format === 'positions_v3' ? positionsReceiver(options) : jsonReceiver(options)
}

/** Concurrent requests of one copy: few, as the tracking API has priority. */
const CONCURRENCY = 8
/** The share of the time of this process that all copies may take. */
const SHARE = 0.25
/** How long requests under way may take when the process stops. */
const STOP_MS = 5000
const LAST_WRITE_MS = 500
/** A failure is a finding when it was tried again and lasts. */
const TRIES = 2
const LASTING_MS = 5000
