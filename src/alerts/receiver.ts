import { hash } from 'node:crypto'
import type { AlertTest } from '../admin/alert-tests.ts'
import { type HoldingFindings, IncidentBook, type IncidentNews, readEntry } from '../admin/incident-book.ts'
import { EVERYTHING, Scope } from '../admin/scope.ts'
import type { Config } from '../config/schema.ts'
import type { Severity } from '../diagnose/codes.ts'
import type { FailedReceiver } from '../diagnose/facts.ts'
import type { Logger } from '../observe/log.ts'
import { keys, type Redis } from '../store/index.ts'
import { type AlertClock, type AlertTransport, type DeliveryFailure, Outbox } from './outbox.ts'
import { mailTransport, webhookTransport } from './transports.ts'

/** What all receivers share. */
export interface ReceiverSources {
  readonly config: Pick<Config, 'alerts' | 'time_zone'>
  readonly redis: Redis
  readonly logger: Logger
  readonly clock?: AlertClock
}

export interface ReceiverOptions extends Pick<AlertTest, 'format'> {
  /** Its place and its host. */
  readonly receiver: string
  readonly transport: AlertTransport
  /** Distinguishes it from other receivers; stored as a hash. */
  readonly id: string
  readonly min_severity: Severity
  /** The companies whose findings it is told of. */
  readonly scope: Scope
}

/** Returns the receivers of a configuration. `page`: URL of the page, used if `page_url` is not set. */
export function receiverOptions({ webhooks, mail, page_url }: Config['alerts'], page: string): ReceiverOptions[] {
  const url = page_url ?? page
  const all = webhooks.map(({ companies, min_severity, ...webhook }, index): ReceiverOptions => {
    const isUsual = webhook.format === 'waybridge' && companies === null
    return {
      transport: webhookTransport(webhook, url),
      receiver: `alerts.webhooks[${index}] (${new URL(webhook.url).host})`,
      format: webhook.format,
      id: isUsual ? webhook.url : `${webhook.url} ${webhook.format} ${companies?.join() ?? ''}`,
      min_severity,
      scope: companies ? new Scope(companies) : EVERYTHING,
    }
  })
  if (!mail) return all
  const receiver = `alerts.mail (${new URL(mail.smtp).host})`
  const transport = mailTransport(mail, url)
  const { min_severity } = mail
  return [...all, { transport, receiver, format: 'mail', id: 'mail', min_severity, scope: EVERYTHING }]
}

/** Returns the Redis key of what a receiver was told. */
export function receiverKey({ id }: Pick<ReceiverOptions, 'id'>): string {
  return hash('sha256', id).slice(0, 16)
}

/** One receiver: a webhook or the e-mail. Redis keeps what it was told, so that a restart repeats nothing. */
export class AlertReceiver {
  readonly scope: Scope
  readonly #options: ReceiverOptions
  readonly #book: IncidentBook
  readonly #outbox: Outbox
  readonly #redis: Redis
  readonly #key: string
  readonly #failureKey: string
  readonly #underWay = new Set<string>()
  /** When an incident that holds was sent last, ms UTC, by key. */
  readonly #sentAt = new Map<string, number>()
  #keptFailure: string | null = null
  #isRead = false

  constructor(options: ReceiverOptions, { config, redis, logger, clock }: ReceiverSources) {
    const { alerts, time_zone: zone } = config
    const { flap, quiet_hours: quietHours } = alerts
    this.scope = options.scope
    this.#options = options
    this.#book = new IncidentBook({ minSeverity: options.min_severity, flap, quietHours, zone })
    this.#outbox = new Outbox(options.transport, logger, clock)
    this.#redis = redis
    const name = receiverKey(options)
    this.#key = keys.alerted(name)
    this.#failureKey = keys.alerted(`${name}:failure`)
  }

  /** Why messages do not reach it; set after two consecutive failures. */
  get failing(): FailedReceiver | undefined {
    const { failure } = this.#outbox
    return failure && failure.tries >= TRIES ? { receiver: this.#options.receiver, ...failure } : undefined
  }

  /** `isAway`: Redis does not answer. */
  async look(holding: HoldingFindings, isAway: boolean): Promise<void> {
    if (!this.#isRead && !(await this.#read()) && !isAway) return
    const { now } = holding
    const { receiver } = this.#options
    // A receiver cannot be told of its own failure, which has ended once it can be reached.
    const current = this.scope.findings(holding.current).filter(({ subject }) => subject.receiver !== receiver)
    const { changed, news } = this.#book.look({ ...holding, current }, this.#underWay)
    for (const [key, each] of news)
      this.#send(key, each, now, (isSent) => {
        // A message that did not arrive becomes due again, with the content of that time.
        if (isSent) this.#book.told(key, each, now)
        void this.#write([key])
      })
    this.#repeat(now)
    // Does not wait for the write: while Redis hangs, further findings are still sent.
    void this.#write([...changed])
    void this.#writeFailure()
  }

  /** Sends it a test, and resolves to what became of that. */
  async test(): Promise<AlertTest> {
    const { receiver, format } = this.#options
    const reason = await this.#outbox.test()
    return { receiver, format, ok: reason === undefined, ...(reason !== undefined && { reason }) }
  }

  close(): Promise<void> {
    return this.#outbox.close()
  }

  #send(key: string, news: IncidentNews, now: number, done: (isSent: boolean) => void): void {
    if (this.#underWay.has(key)) return
    const isTaken = this.#outbox.add(news, (isSent) => {
      this.#underWay.delete(key)
      done(isSent)
    })
    if (!isTaken) return
    this.#underWay.add(key)
    this.#sentAt.set(key, now)
  }

  /** Repeats holding incidents for receivers that would otherwise consider them over. */
  #repeat(now: number): void {
    const { repeatMs } = this.#options.transport
    if (repeatMs === undefined) return
    const holding = this.#book.toldHolding()
    for (const key of this.#sentAt.keys()) if (!holding.has(key) && !this.#underWay.has(key)) this.#sentAt.delete(key)
    for (const [key, each] of holding)
      if (Math.abs(now - (this.#sentAt.get(key) ?? 0)) >= repeatMs) this.#send(key, each, now, () => {})
  }

  /** Resolves to whether the earlier messages are known now. */
  async #read(): Promise<boolean> {
    const read = Promise.all([this.#redis.hgetall(this.#key), this.#redis.get(this.#failureKey)])
    const kept = await read.catch(() => undefined)
    if (!kept) return false
    const [entries, failure] = kept
    const { receiver, ...earlier } = JSON.parse(failure ?? '{}') as DeliveryFailure & { readonly receiver?: string }
    // The mail server may be another one now.
    if (failure !== null && receiver === this.#options.receiver) this.#outbox.restore(earlier)
    this.#keptFailure = failure
    for (const [name, json] of Object.entries(entries)) {
      const [key, entry] = readEntry(json)
      const known = this.#book.entries.get(key)
      if (!known || (known.told === 'ends' && entry.told === 'begins')) this.#book.entries.set(key, entry)
      if (key !== name) void this.#write([name, key])
    }
    this.#isRead = true
    return true
  }

  /** Messages that Redis does not note are repeated after a restart. */
  async #write(changed: readonly string[]): Promise<void> {
    if (changed.length === 0) return
    const writes = this.#redis.multi()
    for (const key of changed) {
      const entry = this.#book.entries.get(key)
      if (entry) writes.hset(this.#key, key, JSON.stringify(entry))
      else writes.hdel(this.#key, key)
    }
    await writes.exec().catch(() => {})
  }

  /** Keeps since when it fails: a restart is no end of that. */
  async #writeFailure(): Promise<void> {
    const { failure } = this.#outbox
    const { receiver } = this.#options
    const kept = failure && failure.tries >= TRIES ? JSON.stringify({ ...failure, tries: TRIES, receiver }) : null
    if (kept === this.#keptFailure) return
    this.#keptFailure = kept
    const write = kept === null ? this.#redis.del(this.#failureKey) : this.#redis.set(this.#failureKey, kept)
    await write.catch(() => {})
  }
}

/** A single failure is often over with the next try. */
const TRIES = 2
