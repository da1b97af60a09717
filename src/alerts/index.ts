import { hash } from 'node:crypto'
import type { Findings } from '../admin/findings.ts'
import { everySecond } from '../async.ts'
import type { Config } from '../config/schema.ts'
import type { Logger } from '../observe/log.ts'
import { keys, type Redis } from '../store/index.ts'
import { AlertBook, type AlertEntry, type HoldingFindings } from './book.ts'
import { type AlertClock, type AlertTransport, Outbox } from './outbox.ts'
import { mailTransport, webhookTransport } from './transports.ts'

export interface AlertOptions {
  readonly config: Pick<Config, 'alerts' | 'time_zone'>
  readonly findings: Pick<Findings, 'current' | 'facts' | 'follow'>
  readonly redis: Redis
  /** URL of the page, where `alerts.page_url` names none. */
  readonly page: string
  readonly logger: Logger
  readonly clock?: AlertClock
}

/** Tells webhooks and e-mail of each finding that begins and ends, until it is closed. */
export function startAlerts(options: AlertOptions): { close(): Promise<void> } {
  const { alerts } = options.config
  const page = alerts.page_url ?? options.page
  const receivers = alerts.webhooks.map(
    (webhook) => new AlertReceiver(webhookTransport(webhook, page), { id: webhook.url, ...webhook }, options),
  )
  if (alerts.mail)
    receivers.push(new AlertReceiver(mailTransport(alerts.mail, page), { id: 'mail', ...alerts.mail }, options))
  if (receivers.length === 0) return { close: async () => {} }
  const { findings, clock = Date } = options
  const startedAt = clock.now()

  async function look(): Promise<void> {
    if (!findings.facts) return
    const { current } = findings
    const now = clock.now()
    const isBlind = current.some(({ code }) => code === 'redis_down')
    const holding = { now, current, isComplete: !isBlind && now - startedAt > SETTLED_MS }
    await Promise.all(receivers.map((receiver) => receiver.look(holding, isBlind)))
  }

  const looking = everySecond({ look })
  return {
    async close() {
      await looking.stop()
      await Promise.all(receivers.map((receiver) => receiver.close()))
    },
  }
}

interface ReceiverOptions {
  /** What tells it from others; kept as a hash. */
  readonly id: string
  readonly min_severity: 'info' | 'warning' | 'error'
}

/** One receiver: a webhook or the e-mail. What it was told is kept in Redis, so that a restart repeats nothing. */
class AlertReceiver {
  readonly #book: AlertBook
  readonly #outbox: Outbox
  readonly #redis: Redis
  readonly #key: string
  readonly #underWay = new Set<string>()
  #isRead = false

  constructor(transport: AlertTransport, { id, min_severity }: ReceiverOptions, options: AlertOptions) {
    const { alerts, time_zone: zone } = options.config
    const { flap, quiet_hours: quietHours } = alerts
    this.#book = new AlertBook({ minSeverity: min_severity, flap, quietHours, zone })
    this.#outbox = new Outbox(transport, options.logger, options.clock)
    this.#redis = options.redis
    this.#key = keys.alerted(hash('sha256', id).slice(0, 16))
  }

  /** `isBlind`: Redis is away. */
  async look(holding: HoldingFindings, isBlind: boolean): Promise<void> {
    if (!this.#isRead && !(await this.#read()) && !isBlind) return
    const { changed, messages } = this.#book.look(holding)
    for (const [id, message] of messages) {
      if (this.#underWay.has(id)) continue
      const done = () => {
        this.#underWay.delete(id)
        this.#book.told(id, message.change)
        void this.#write([id])
      }
      if (this.#outbox.add(message, done)) this.#underWay.add(id)
    }
    // Does not wait for the write: while Redis hangs, further findings are still told.
    void this.#write([...changed])
  }

  close(): Promise<void> {
    return this.#outbox.close()
  }

  /** Answers whether what was told before is known now. */
  async #read(): Promise<boolean> {
    const kept = await this.#redis.hgetall(this.#key).catch(() => undefined)
    if (!kept) return false
    for (const [id, json] of Object.entries(kept))
      if (!this.#book.entries.has(id)) this.#book.entries.set(id, JSON.parse(json) as AlertEntry)
    this.#isRead = true
    return true
  }

  /** What Redis does not take is repeated after a restart. */
  async #write(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    const writes = this.#redis.multi()
    for (const id of ids) {
      const entry = this.#book.entries.get(id)
      if (entry) writes.hset(this.#key, id, JSON.stringify(entry))
      else writes.hdel(this.#key, id)
    }
    await writes.exec().catch(() => {})
  }
}

/** After this time a process has noticed the findings that already held before it started. */
const SETTLED_MS = 15_000
