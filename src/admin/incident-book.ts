import { hash } from 'node:crypto'
import { type FindingCode, SEVERITY_ORDER, type Severity } from '../diagnose/codes.ts'
import type { Finding } from '../diagnose/facts.ts'
import { groupKey, type Incident, incidentsOf, isAboutMember } from '../diagnose/incidents.ts'
import { localFromUtc } from '../domain/times.ts'

/** When incidents are announced. Durations in ms. */
export interface TellingRules {
  readonly minSeverity: Severity
  readonly flap: number
  /** Minutes since midnight in `zone`. */
  readonly quietHours: { readonly from: number; readonly until: number; readonly except: Severity } | null
  readonly zone: string
}

/** The present findings, as far as they are known. */
export interface HoldingFindings {
  readonly now: number
  readonly current: readonly Finding[]
  /**
   * Whether a finding that is not listed has ended; false while Redis or its replicas are away, and in the first seconds of this
   * process.
   */
  readonly isComplete: boolean
  /** Findings that are not noticed yet although they may hold, because devices have sent too little to this process. */
  readonly unlearnt?: ReadonlySet<FindingCode>
}

/** What a receiver is told of an incident. `updates`: it has doubled since the last message, or its severity has changed. */
export interface IncidentNews extends Incident {
  readonly change: 'begins' | 'updates' | 'ends'
  /** The same from the begin of an incident to its end. */
  readonly id: string
  /** The severity in the last message; for a begin, its own. */
  readonly toldSeverity: Severity
  /** When it ended, ms UTC. */
  readonly endedAt?: number
}

/** An incident in its latest state, and what the receiver was told of it. Instants in ms UTC. */
export interface IncidentEntry extends Incident {
  /** Identifies this incident from its begin to its end; a later incident with the same key has another id. */
  readonly id: string
  /** The incident at its largest size. */
  readonly most: Incident
  readonly holds: boolean
  /** The last message: `begins` if the begin was sent (perhaps updates too) and the end was not; else `ends`. */
  readonly told: 'begins' | 'ends'
  readonly toldAs?: { readonly size: number; readonly severity: Severity; readonly at: number }
  readonly changedAt: number
  readonly endedAt?: number
  /** It began or ended again within `flap`; the next message waits until it has been stable for that time. */
  readonly isFlapping: boolean
}

/**
 * Decides what one receiver, or the log, is told of incidents, given what it was told before: one begin, an update if an
 * incident doubles or changes its severity, one end. Its only state is `entries`. A clock that is set back makes no time last
 * longer.
 */
export class IncidentBook {
  readonly entries = new Map<string, IncidentEntry>()
  readonly #rules: TellingRules

  constructor(rules: TellingRules) {
    this.#rules = rules
  }

  /**
   * Updates the entries from the present findings. Returns the keys of changed entries, and the messages to send by key. The
   * caller calls `told` after it has sent one; until then it gets the same message again. `underWay`: keys of messages that
   * are being sent; their entries stay.
   */
  look(
    { now, current, isComplete, unlearnt }: HoldingFindings,
    underWay: ReadonlySet<string> = new Set(),
  ): { changed: Set<string>; news: Map<string, IncidentNews> } {
    const changed = new Set<string>()
    const incidents = incidentsOf(current)
    for (const [key, incident] of incidents) if (this.#holds(key, incident, now)) changed.add(key)
    const groups = new Set(current.map(groupKey))
    for (const [key, entry] of this.entries) {
      if (incidents.has(key)) continue
      const isKnown = isComplete && !unlearnt?.has(entry.finding.code)
      if (entry.holds && isKnown && !isAmong(entry.finding, incidents, groups)) {
        this.entries.set(key, ended(entry, now, this.#rules.flap))
        changed.add(key)
      } else if (isForgotten(entry, now, this.#rules.flap) && !underWay.has(key)) {
        this.entries.delete(key)
        changed.add(key)
      }
    }
    return { changed, news: this.#due(now) }
  }

  /**
   * Notes that a message was sent, even if the incident has ended and begun again in the meantime: after a begin the incident
   * continues under the announced id, after an end it is a new one.
   */
  told(key: string, { change, id, size, finding: { severity } }: IncidentNews, now: number): void {
    const entry = this.entries.get(key)
    if (!entry) return
    const toldAs = { size, severity, at: now }
    const isAnother = change === 'ends' && entry.holds
    const told = change === 'ends' ? 'ends' : 'begins'
    this.entries.set(key, { ...entry, id: isAnother ? newId(key, now) : id, told, toldAs })
  }

  /** Returns the announced incidents that still hold, by key, with the last announced severity. */
  toldHolding(): Map<string, IncidentNews> {
    const holding = new Map<string, IncidentNews>()
    for (const [key, { finding, holds, id, size, told, toldAs }] of this.entries) {
      if (!holds || told !== 'begins') continue
      const severity = toldAs?.severity ?? finding.severity
      holding.set(key, { finding: { ...finding, severity }, size, change: 'updates', id, toldSeverity: severity })
    }
    return holding
  }

  /** Returns whether that is to be kept. */
  #holds(key: string, incident: Incident, now: number): boolean {
    const known = this.entries.get(key)
    if (known?.holds) {
      // The devices of an incident change; it keeps the time of its first one.
      const sinceAt = Math.min(known.finding.sinceAt, incident.finding.sinceAt)
      const last = { ...incident, finding: { ...incident.finding, sinceAt } }
      const most = last.size >= known.most.size ? last : known.most
      this.entries.set(key, { ...known, ...last, most })
      return last.size > known.most.size
    }
    if (known?.told !== 'begins' && !this.#isTold(incident.finding.severity)) return false
    const isFlapping = known?.endedAt !== undefined && Math.abs(now - known.endedAt) < this.#rules.flap
    const { told = 'ends', toldAs } = known ?? {}
    const id = known && told === 'begins' ? known.id : newId(key, now)
    const state = { holds: true, told, toldAs, changedAt: now, endedAt: known?.endedAt, isFlapping }
    this.entries.set(key, { ...incident, id, most: incident, ...state })
    return true
  }

  #due(now: number): Map<string, IncidentNews> {
    const news = new Map<string, IncidentNews>()
    for (const [key, entry] of this.entries) {
      const { endedAt, finding, holds, id, most, size, toldAs } = entry
      const change = changeOf(entry, now)
      const isReady = !entry.isFlapping || change === 'updates' || Math.abs(now - entry.changedAt) >= this.#rules.flap
      const { severity } = finding
      const isBelow = change === 'begins' && !this.#isTold(severity)
      if (change === undefined || !isReady || isBelow || this.#isQuiet(severity, now)) continue
      const toldSeverity = toldAs?.severity ?? severity
      news.set(key, { ...(holds ? { finding, size } : most), change, id, toldSeverity, ...(!holds && { endedAt }) })
    }
    return news
  }

  #isTold(severity: Severity): boolean {
    return SEVERITY_ORDER[severity] <= SEVERITY_ORDER[this.#rules.minSeverity]
  }

  #isQuiet(severity: Severity, now: number): boolean {
    const { quietHours, zone } = this.#rules
    if (!quietHours || SEVERITY_ORDER[severity] <= SEVERITY_ORDER[quietHours.except]) return false
    const minute = Math.floor(localFromUtc(now, zone) / 60_000) % 1440
    const { from, until } = quietHours
    return from <= until ? minute >= from && minute < until : minute >= from || minute < until
  }
}

/**
 * Returns true if the subject of a finding may still be affected: the finding was merged into one about many, or some of its
 * devices are left.
 */
function isAmong(finding: Finding, incidents: ReadonlyMap<string, Incident>, groups: ReadonlySet<string>): boolean {
  const group = groupKey(finding)
  return isAboutMember(finding) ? incidents.has(group) : groups.has(group)
}

/** Returns true if an incident ended longer than `flap` ago, and its end was announced, or its begin never was. */
function isForgotten({ changedAt, holds, told }: IncidentEntry, now: number, flap: number): boolean {
  return !holds && told === 'ends' && Math.abs(now - changedAt) > flap
}

function newId(key: string, now: number): string {
  return hash('sha256', `${key} ${now}`).slice(0, 32)
}

function changeOf(
  { finding, holds, size, told, toldAs }: IncidentEntry,
  now: number,
): IncidentNews['change'] | undefined {
  if (!holds) return told === 'begins' ? 'ends' : undefined
  if (told === 'ends') return 'begins'
  if (!toldAs || Math.abs(now - toldAs.at) < BETWEEN_MS) return undefined
  const isNews = size >= 2 * toldAs.size || finding.severity !== toldAs.severity
  return isNews ? 'updates' : undefined
}

function ended(entry: IncidentEntry, now: number, flap: number): IncidentEntry {
  const isFlapping = entry.endedAt !== undefined && Math.abs(now - entry.endedAt) < flap
  return { ...entry, holds: false, changedAt: now, endedAt: now, isFlapping }
}

/** Returns an entry from its JSON in Redis, with its key. An entry from before updates existed counts as fully announced. */
export function readEntry(json: string): [key: string, entry: IncidentEntry] {
  const kept = JSON.parse(json) as Omit<IncidentEntry, 'id' | 'most' | 'size'> & Partial<IncidentEntry>
  const [[key, incident]] = incidentsOf([kept.finding])
  const toldAs = { size: incident.size, severity: kept.finding.severity, at: 0 }
  return [key, { id: newId(key, kept.changedAt), most: incident, size: incident.size, toldAs, ...kept }]
}

/** The least time between two messages about an incident: vans fall silent one after the other. */
const BETWEEN_MS = 10_000
