import { randomUUID } from 'node:crypto'
import { within } from '../async.ts'
import type { DaySheets } from '../admin/day-sheets.ts'
import type { Scope } from '../admin/scope.ts'
import type { Config } from '../config/schema.ts'
import type { Logger } from '../observe/log.ts'
import { keys, type Redis } from '../store/index.ts'
import { english } from '../texts/text.ts'
import { type DayReport, dayReports, type DueDay, dueDay } from './day-report.ts'
import { type AlertTransport, reasonOf } from './outbox.ts'

/** A receiver of reports. `key`: the Redis key of what was sent to it. */
export interface DailyReceiver {
  readonly key: string
  readonly scope: Scope
  readonly transport: Pick<AlertTransport, 'name' | 'report'>
}

export interface DailySources {
  readonly daily: NonNullable<Config['alerts']['daily']>
  readonly zone: string
  readonly receivers: readonly DailyReceiver[]
  readonly sheets: Pick<DaySheets, 'read'>
  /** The name of a company, if it has one. */
  readonly nameOf: (company: string) => string | undefined
  readonly redis: Redis
  readonly logger: Logger
}

/** A report that a receiver does not have yet. */
interface PendingReport {
  readonly receiver: DailyReceiver
  readonly report: DayReport
  readonly key: string
  tries: number
  /** When it was tried, ms UTC, and for how long it waits then. */
  triedAt: number
  waitMs: number
  sending?: Promise<void>
}

/**
 * Sends each receiver of alerts one report per company and day, at the time of `alerts.daily`. Redis keeps which were sent,
 * so that a restart repeats none, unless the process was killed between the receiver's answer and that note.
 */
export class DailyReports {
  readonly #sources: DailySources
  readonly #process = randomUUID()
  readonly #closing = new AbortController()
  #pending: PendingReport[] = []
  /** The local day that the reports are about. */
  #made: string | undefined
  #triedAt = -Infinity

  constructor(sources: DailySources) {
    this.#sources = sources
  }

  /** Creates and sends the reports that are due at `now`, ms UTC. Call it once a second. */
  async look(now: number): Promise<void> {
    const { daily, zone, logger } = this.#sources
    const due = dueDay(daily.at, zone, now)
    if (due?.day !== this.#made) this.#pending = []
    if (!due || this.#closing.signal.aborted) return void (this.#made = due && this.#made)
    if (this.#made !== due.day && Math.abs(now - this.#triedAt) >= AGAIN_MS) {
      this.#triedAt = now
      await this.#make(due).catch((error: Error) =>
        logger.debug({ err: error }, 'the reports of the day wait for Redis'),
      )
    }
    for (const pending of this.#pending)
      if (!pending.sending && Math.abs(now - pending.triedAt) >= pending.waitMs)
        pending.sending = this.#send(pending, now).finally(() => (pending.sending = undefined))
  }

  /** Aborts requests in flight, or gives up after a second. */
  async close(): Promise<void> {
    this.#closing.abort()
    await within(LAST_MS, Promise.all(this.#pending.flatMap(({ sending }) => sending ?? [])))
  }

  async #make({ day, from, until }: DueDay): Promise<void> {
    const { daily, receivers, sheets, nameOf } = this.#sources
    const found = await sheets.read({ day: { from, until }, key: 'alerts', isListed: () => true })
    const reports = dayReports(found, { day, language: daily.language, nameOf })
    this.#pending = receivers.flatMap((receiver) =>
      reports
        .filter(({ company_id }) => receiver.scope.sees(company_id))
        .map((report) => {
          const key = keys.alerted(`${receiver.key}:day:${day}:${report.company_id}`)
          return { receiver, report, key, tries: 0, triedAt: -Infinity, waitMs: 0 }
        }),
    )
    // Without a route there is no report, and the roster may still come.
    if (reports.length > 0) this.#made = day
  }

  /** A report that another process is sending is checked again: that process may end before it has sent it. */
  async #send(pending: PendingReport, now: number): Promise<void> {
    const { redis, logger } = this.#sources
    const { key, receiver, report } = pending
    Object.assign(pending, { triedAt: now, waitMs: AGAIN_MS })
    const claimed = await redis.set(key, this.#process, 'EX', CLAIM_S, 'NX').catch(() => null)
    if (claimed === null) {
      const known = await redis.get(key).catch(() => null)
      if (known === SENT) this.#end(pending)
      return
    }
    try {
      const limit = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(MAX_SEND_MS)])
      await receiver.transport.report(report, limit)
    } catch (error) {
      pending.waitMs = Math.min(FIRST_DELAY_MS * 2 ** pending.tries++, MAX_DELAY_MS)
      if (pending.tries === 1 && !this.#closing.signal.aborted)
        logger.error(
          { reason: english(reasonOf(error)) },
          `alerts: ${receiver.transport.name} is not told of the day; it is tried again for three hours`,
        )
      await redis.del(key).catch(() => {})
      return
    }
    this.#end(pending)
    await redis.set(key, SENT, 'EX', SENT_S).catch(() => {})
  }

  #end(pending: PendingReport): void {
    this.#pending = this.#pending.filter((each) => each !== pending)
  }
}

const SENT = 'sent'
const SENT_S = 2 * 86_400
/** Longer than a report is under way. */
const CLAIM_S = 90
const AGAIN_MS = 5000
const MAX_SEND_MS = 10_000
const FIRST_DELAY_MS = 5000
const MAX_DELAY_MS = 300_000
const LAST_MS = 1000
