import type { Severity } from '../diagnose/codes.ts'
import { idOf } from '../diagnose/diagnose.ts'
import type { Finding } from '../diagnose/facts.ts'
import { localFromUtc } from '../domain/times.ts'
import type { AlertMessage } from './outbox.ts'

/** When a receiver is told. Durations in ms. */
export interface AlertRules {
  readonly minSeverity: Severity
  readonly flap: number
  /** Minutes since midnight in `zone`. */
  readonly quietHours: { readonly from: number; readonly until: number; readonly except: Severity } | null
  readonly zone: string
}

/** What holds now, as far as it is known. */
export interface HoldingFindings {
  readonly now: number
  readonly current: readonly Finding[]
  /** Whether what is not among them has ended: not while Redis is away, and not in the first seconds of this process. */
  readonly isComplete: boolean
}

/** What a receiver was told of one finding. Instants in ms UTC. */
export interface AlertEntry {
  readonly finding: Finding
  readonly holds: boolean
  /** What the receiver was told last: `begins` if it was told the finding, `ends` if it knows nothing of it. */
  readonly told: AlertMessage['change']
  readonly changedAt: number
  readonly endedAt?: number
  /** The finding began or ended again within `flap`: it is told once it has stayed so for that time. */
  readonly isFlapping: boolean
}

/** Decides which findings one receiver is told, from what it was told before. Its only state is `entries`. */
export class AlertBook {
  readonly entries = new Map<string, AlertEntry>()
  readonly #rules: AlertRules

  constructor(rules: AlertRules) {
    this.#rules = rules
  }

  /**
   * Notes what holds. Answers the ids of entries that changed, and what is to be told by id: the caller calls `told` once that
   * is done, and until then is answered the same again.
   */
  look({ now, current, isComplete }: HoldingFindings) {
    const changed = new Set<string>()
    const holding = new Map(current.filter(({ severity }) => this.#isTold(severity)).map((each) => [idOf(each), each]))
    for (const [id, finding] of holding) if (this.#holds(id, finding, now)) changed.add(id)
    for (const [id, entry] of this.entries) {
      if (isComplete && entry.holds && !holding.has(id)) {
        this.entries.set(id, ended(entry, now, this.#rules.flap))
        changed.add(id)
      } else if (!entry.holds && entry.told === 'ends' && now - entry.changedAt > this.#rules.flap) {
        this.entries.delete(id)
        changed.add(id)
      }
    }
    return { changed, messages: this.#due(now) }
  }

  /** The receiver was told, or is given up. */
  told(id: string, told: AlertMessage['change']): void {
    const entry = this.entries.get(id)
    if (entry) this.entries.set(id, { ...entry, told })
  }

  /** Answers whether that is news. */
  #holds(id: string, finding: Finding, now: number): boolean {
    const known = this.entries.get(id)
    if (known?.holds) {
      this.entries.set(id, { ...known, finding })
      return false
    }
    const isFlapping = known?.endedAt !== undefined && now - known.endedAt < this.#rules.flap
    const { told = 'ends' } = known ?? {}
    this.entries.set(id, { finding, holds: true, told, changedAt: now, endedAt: known?.endedAt, isFlapping })
    return true
  }

  #due(now: number): Map<string, AlertMessage> {
    const messages = new Map<string, AlertMessage>()
    for (const [id, { changedAt, endedAt, finding, holds, isFlapping, told }] of this.entries) {
      const change = holds ? 'begins' : 'ends'
      const isReady = !isFlapping || now - changedAt >= this.#rules.flap
      if (told === change || !isReady || this.#isQuiet(finding.severity, now)) continue
      messages.set(id, { change, finding, ...(!holds && { endedAt }) })
    }
    return messages
  }

  #isTold(severity: Severity): boolean {
    return RANKS[severity] >= RANKS[this.#rules.minSeverity]
  }

  #isQuiet(severity: Severity, now: number): boolean {
    const { quietHours, zone } = this.#rules
    if (!quietHours || RANKS[severity] >= RANKS[quietHours.except]) return false
    const minute = Math.floor(localFromUtc(now, zone) / 60_000) % 1440
    const { from, until } = quietHours
    return from <= until ? minute >= from && minute < until : minute >= from || minute < until
  }
}

function ended(entry: AlertEntry, now: number, flap: number): AlertEntry {
  const isFlapping = entry.endedAt !== undefined && now - entry.endedAt < flap
  return { ...entry, holds: false, changedAt: now, endedAt: now, isFlapping }
}

const RANKS = { info: 0, warning: 1, error: 2 } satisfies Record<Severity, number>
