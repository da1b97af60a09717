import { isDeepStrictEqual } from 'node:util'
import type * as z from 'zod'
import { everySecond } from '../async.ts'
import { diagnose, type Finding } from '../diagnose/diagnose.ts'
import { readObservations, type Redis } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { type FindingJson, instant } from './json.ts'

/** The findings that hold, looked at once a second. The log has one line when a finding begins, and one when it ends. */
export class Findings {
  readonly #redis: Redis
  readonly #logger: Logger
  readonly #looking: ReturnType<typeof everySecond>
  #current: readonly Finding[] = []

  constructor(redis: Redis, logger: Logger) {
    this.#redis = redis
    this.#logger = logger
    this.#looking = everySecond(() => this.#look().catch(() => {}))
  }

  /** Errors first. While Redis does not answer: those of the last look. */
  get current(): readonly Finding[] {
    return this.#current
  }

  close(): void {
    void this.#looking.stop()
  }

  async #look(): Promise<void> {
    const before = this.#current
    this.#current = diagnose({ observations: await readObservations(this.#redis) })
    for (const finding of this.#current)
      if (!before.some((other) => isSame(finding, other)))
        this.#logger[LEVELS[finding.severity]](fieldsOf(finding), `begins: ${finding.message}; ${finding.action}`)
    for (const finding of before)
      if (!this.#current.some((other) => isSame(finding, other)))
        this.#logger.info(fieldsOf(finding), `has ended: ${finding.message}`)
  }
}

/** A finding as `GET /admin/status` has it. */
export function findingJson({ sinceAt, ...finding }: Finding): z.infer<typeof FindingJson> {
  return {
    ...finding,
    subject: { ...finding.subject },
    evidence: [...finding.evidence],
    since_at: instant(sinceAt) ?? '',
  }
}

function isSame(one: Finding, other: Finding): boolean {
  return one.code === other.code && isDeepStrictEqual(one.subject, other.subject)
}

function fieldsOf({ code, count, evidence, subject }: Finding) {
  return { reason: code, ...subject, count, evidence }
}

const LEVELS = { error: 'error', warning: 'warn', info: 'info' } as const
