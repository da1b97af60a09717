import * as z from 'zod'
import { SEVERITY_ORDER } from '../diagnose/codes.ts'
import { diagnose, explainsBacklog, idOf, isBlind } from '../diagnose/diagnose.ts'
import { ALL, concernOf } from '../diagnose/order.ts'
import type { Facts, Finding } from '../diagnose/facts.ts'
import { groupKey, isAboutMember } from '../diagnose/incidents.ts'
import { plainly } from '../diagnose/plain.ts'
import { sameId } from '../domain/ids.ts'
import { parse } from '../http/refusal.ts'
import type { Logger } from '../observe/log.ts'
import { keys, type Redis } from '../store/index.ts'
import type { WithTexts } from '../texts/language.ts'
import { english } from '../texts/text.ts'
import { IncidentBook, type IncidentNews } from './incident-book.ts'
import { instant } from './json.ts'
import type { Operation } from './operation.ts'
import { type ListPlace, PageQuery, pageOf } from './paging.ts'
import { instantIn } from './roster/writes.ts'
import { FindingJson } from './schemas/findings.ts'
import { pageSchema } from './schemas/parts.ts'

/** A finding that begins, ends, or is merged into another one. */
export interface FindingChange {
  readonly finding: Finding
  readonly change: 'begins' | 'ends' | 'merges'
  /** When it ended, ms UTC. */
  readonly endedAt?: number
}

interface FindingSources {
  readonly redis: Redis
  readonly gather: () => Promise<Facts>
  readonly logger: Logger
}

/**
 * The findings that hold. The log gets one line when an incident begins, one each time that it has doubled, and one when it
 * ends; ended findings are kept for 24 hours.
 */
export class Findings {
  readonly #sources: FindingSources
  readonly #followers: ((change: FindingChange) => void)[] = []
  #current: readonly Finding[] = []
  /** Findings from when Redis or its replicas went away; it is unknown whether they still hold. */
  #suspended: readonly Finding[] = []
  #facts: Facts | undefined
  /** When something held last that explains why positions wait, ms UTC. */
  #waitExplainedAt = Number.NEGATIVE_INFINITY
  readonly #logged = new IncidentBook({ minSeverity: 'info', flap: 0, quietHours: null, zone: 'UTC' })

  constructor(sources: FindingSources) {
    this.#sources = sources
  }

  /** Errors first. */
  get current(): readonly Finding[] {
    return this.#current
  }

  /** The facts of the latest findings; undefined before the first look. */
  get facts(): Facts | undefined {
    return this.#facts
  }

  /** Tells of each finding that begins or ends from now on. */
  follow(changed: (change: FindingChange) => void): void {
    this.#followers.push(changed)
  }

  /** The findings that ended within 24 hours, latest first. Rejects if Redis does not answer. */
  async ended(): Promise<EndedFinding[]> {
    const since = Date.now() - KEPT_MS
    const kept = await this.#sources.redis.lrange(keys.endedFindings, 0, -1)
    return kept.map((json) => JSON.parse(json) as EndedFinding).filter(({ endedAt }) => endedAt >= since)
  }

  /** Call it once a second. If it rejects, the previous findings stay. */
  async look(): Promise<void> {
    const before = byId([...this.#current, ...this.#suspended])
    this.#facts = await this.#sources.gather()
    const current = byId(this.#withoutCatchingUp(diagnose(this.#facts), this.#facts.now))
    for (const [id, finding] of current) {
      const known = before.get(id)
      if (known) current.set(id, { ...finding, sinceAt: Math.min(known.sinceAt, finding.sinceAt) })
    }
    this.#current = [...current.values()]
    const others = [...before].flatMap(([id, finding]) => (current.has(id) ? [] : [finding]))
    const { now } = this.#facts
    const isComplete = !isBlind(this.#current)
    this.#suspended = isComplete ? [] : others
    const { ended = [], merged = [] } = !isComplete ? {} : Object.groupBy(others, howOver(this.#current))
    for (const finding of ended) this.#tell({ finding, change: 'ends', endedAt: now })
    for (const finding of merged) this.#tell({ finding, change: 'merges' })
    for (const [id, finding] of current) if (!before.has(id)) this.#tell({ finding, change: 'begins' })
    const { news } = this.#logged.look({ now, current: this.#current, isComplete })
    for (const [key, each] of news) {
      this.#log(each)
      this.#logged.told(key, each, now)
    }
    await this.#keep(ended, now)
  }

  /** Fixes that waited for a known cause leave once it ends, and their figures are some seconds old: that is no backlog. */
  #withoutCatchingUp(found: readonly Finding[], now: number): readonly Finding[] {
    if (found.some((each) => explainsBacklog(each, now))) this.#waitExplainedAt = now
    return Math.abs(now - this.#waitExplainedAt) < CATCHING_UP_MS
      ? found.filter(({ code }) => code !== 'backlog')
      : found
  }

  #tell(change: FindingChange): void {
    for (const follower of this.#followers) follower(change)
  }

  #log({ change, finding, size }: IncidentNews): void {
    const { logger } = this.#sources
    const fields = fieldsOf(finding, size)
    const [message, action] = [english(finding.message), english(finding.action)]
    if (change === 'ends') logger.info(fields, `has ended: ${message}`)
    else
      logger[LEVELS[finding.severity]](fields, `${change === 'begins' ? 'begins' : 'goes on'}: ${message}; ${action}`)
  }

  /** Ended findings that Redis does not take are in the process log only. */
  async #keep(ended: readonly Finding[], endedAt: number): Promise<void> {
    if (ended.length === 0) return
    const kept = ended.map((finding) => JSON.stringify({ ...finding, endedAt } satisfies EndedFinding))
    const writes = this.#sources.redis.multi().lpush(keys.endedFindings, ...kept)
    await writes
      .ltrim(keys.endedFindings, 0, KEPT - 1)
      .exec()
      .catch(() => {})
  }
}

type EndedFinding = Finding & { readonly endedAt: number }

/** `GET /admin/findings`: those that hold, errors first, then those that ended within 24 hours, latest first. */
export function findingOperations(findings: Findings, live: Parameters<typeof instantIn>[0]): Operation[] {
  return [
    {
      method: 'GET',
      path: '/admin/findings',
      id: 'listFindings',
      summary: 'List what is wrong now, and what ended within 24 hours',
      query: FindingsQuery,
      answer: pageSchema(FindingJson),
      companies: 'filtered',
      async handle({ query }, _reply, scope) {
        const { severity, since, device, ...page } = parse(FindingsQuery, query)
        const from = since === undefined ? 0 : instantIn(live, 'since', since) * 1000
        const own = device === undefined ? undefined : sameId(device)
        const all: (Finding & { endedAt?: number })[] = [...findings.current, ...(await findings.ended())]
        const isListed = (finding: Finding & { endedAt?: number }) =>
          (severity ?? finding.severity) === finding.severity &&
          (own === undefined || own === (finding.subject.device && sameId(finding.subject.device))) &&
          (finding.endedAt ?? Infinity) >= from
        const { results, ...rest } = await pageOf(scope.findings(all), { list: 'findings', placeOf, isListed }, page)
        return { results: results.map(findingJson), ...rest }
      },
    },
  ]
}

const FindingsQuery = PageQuery.extend({
  severity: z.enum(['info', 'warning', 'error'], 'expected info, warning or error').optional(),
  since: z.string('expected one time').optional(),
  device: z.string('expected one text').optional(),
})

/** A finding as the admin port shows it. */
export function findingJson({
  sinceAt,
  endedAt,
  companies: _companies,
  ...finding
}: Finding & { endedAt?: number }): WithTexts<FindingJson> {
  return {
    ...finding,
    plain: { message: plainly(finding.message), action: plainly(finding.action) },
    subject: { ...finding.subject },
    evidence: [...finding.evidence],
    since_at: instant(sinceAt) ?? '',
    ended_at: instant(endedAt),
  }
}

/** Sorts findings that hold before those that ended, as `diagnose` does; ended ones by time, latest first. */
function placeOf(finding: Finding & { endedAt?: number }): ListPlace {
  const { code, endedAt, severity, sinceAt, subject } = finding
  const name = `${sinceAt} ${code} ${JSON.stringify(subject)}`
  const rank = (SEVERITY_ORDER[severity] + 1) * 2 * ALL - concernOf(finding)
  return [endedAt === undefined ? rank : BEHIND - endedAt, name]
}

function byId(findings: readonly Finding[]): Map<string, Finding> {
  return new Map(findings.map((finding) => [idOf(finding), finding]))
}

/**
 * Returns for each finding that is gone whether it has ended or is merged, because another finding covers some of its
 * subjects.
 */
function howOver(current: readonly Finding[]): (finding: Finding) => 'ended' | 'merged' {
  const [members, groups] = [true, false].map((isMember) => {
    return new Set(current.filter((finding) => isAboutMember(finding) === isMember).map(groupKey))
  })
  return (finding) => ((isAboutMember(finding) ? groups : members).has(groupKey(finding)) ? 'merged' : 'ended')
}

function fieldsOf({ code, count, evidence, subject }: Finding, size: number) {
  return { reason: code, ...subject, count: Math.max(count, size), evidence: evidence.map(english) }
}

const LEVELS = { error: 'error', warning: 'warn', info: 'info' } as const
/** Behind all that hold, by the latest end. */
const BEHIND = 1e15
const KEPT_MS = 86_400_000
const CATCHING_UP_MS = 10_000
const KEPT = 1000
