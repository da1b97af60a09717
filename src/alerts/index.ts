import type { AlertReceivers, AlertTest } from '../admin/alert-tests.ts'
import type { Findings } from '../admin/findings.ts'
import type { Scope } from '../admin/scope.ts'
import type { FindingCode } from '../diagnose/codes.ts'
import { isBlind } from '../diagnose/diagnose.ts'
import type { FailedReceiver } from '../diagnose/facts.ts'
import { DailyReports, type DailySources } from './daily.ts'
import { AlertReceiver, receiverKey, type ReceiverSources, receiverOptions } from './receiver.ts'

export interface AlertOptions extends ReceiverSources, Pick<DailySources, 'sheets' | 'nameOf'> {
  readonly findings: Pick<Findings, 'current' | 'facts'>
  /** URL of the page, used if `alerts.page_url` is not set. */
  readonly page: string
}

/** Tells the receivers of `alerts` of each incident that begins, grows and ends, until it is closed. */
export class Alerts implements AlertReceivers {
  readonly #receivers: readonly AlertReceiver[]
  readonly #daily: DailyReports | undefined
  readonly #findings: AlertOptions['findings']
  readonly #now: () => number
  readonly #startedAt: number
  /** The jobs to run once a second. */
  readonly jobs = { alerts: () => this.#look(), 'daily reports': () => this.#daily?.look(this.#now()) }

  constructor(options: AlertOptions) {
    const { clock = Date, findings } = options
    const { alerts, time_zone: zone } = options.config
    const all = receiverOptions(alerts, options.page)
    this.#receivers = all.map((own) => new AlertReceiver(own, options))
    const receivers = all.map(({ transport, scope, ...own }) => ({ key: receiverKey(own), transport, scope }))
    if (alerts.daily) this.#daily = new DailyReports({ ...options, daily: alerts.daily, zone, receivers })
    this.#findings = findings
    this.#now = () => clock.now()
    this.#startedAt = clock.now()
  }

  failing(): FailedReceiver[] {
    return this.#receivers.flatMap((receiver) => receiver.failing ?? [])
  }

  /** Tests the receivers of the companies that the scope sees, all at once. */
  test(scope: Scope): Promise<AlertTest[]> {
    const seen = this.#receivers.filter(({ scope: own }) => scope.seesEach([...(own.companies ?? [])]))
    return Promise.all(seen.map((receiver) => receiver.test()))
  }

  async close(): Promise<void> {
    await Promise.all([...this.#receivers.map((receiver) => receiver.close()), this.#daily?.close()])
  }

  async #look(): Promise<void> {
    if (!this.#findings.facts) return
    const { current } = this.#findings
    const now = this.#now()
    const isAway = current.some(({ code }) => code === 'redis_down')
    const age = Math.abs(now - this.#startedAt)
    const unlearnt = age > LEARNT_MS ? undefined : UNLEARNT
    const holding = { now, current, isComplete: !isBlind(current) && age > SETTLED_MS, unlearnt }
    await Promise.all(this.#receivers.map((receiver) => receiver.look(holding, isAway)))
  }
}

/** After this time a process has noticed the findings that already held before it started. */
const SETTLED_MS = 15_000
/** These are noticed from several messages, which are not kept: the end of one is told later. */
const UNLEARNT: ReadonlySet<FindingCode> = new Set(['gps_old', 'clock_behind'])
const LEARNT_MS = 600_000
