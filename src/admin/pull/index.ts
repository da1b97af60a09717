import { isDeepStrictEqual } from 'node:util'
import { within } from '../../async.ts'
import type { Pull } from '../../config/pull.ts'
import { ApiRefusal } from '../../http/refusal.ts'
import type { Logger } from '../../observe/log.ts'
import { keepPullResults, notePullResult, readPullResult } from '../../roster/pulls.ts'
import type { PullFailure } from '../../roster/puts.ts'
import { jobFaults } from '../../store/index.ts'
import { fetchRoster, NotPulled, type PulledBody } from './fetch.ts'
import { type PullSources, takeRoster } from './take.ts'

export interface PullerSources extends PullSources {
  /** The rosters to pull, as configured now. */
  readonly pulls: () => readonly Pull[]
  readonly logger: Logger
}

/**
 * Pulls rosters, each at its interval and at once after a change of its settings. What became of each is among the results of the
 * writers of the roster.
 */
export class Puller {
  readonly #sources: PullerSources
  readonly #followed = new Map<string, FollowedPull>()
  #cleaned: readonly Pull[] | undefined

  constructor(sources: PullerSources) {
    this.#sources = sources
  }

  /** Starts due pulls without waiting for them. Call it once a second. Rejects if Redis does not answer. */
  async look(): Promise<void> {
    const wanted = this.#sources.pulls()
    const named = new Map(wanted.map((pull) => [`${pull.company_id} ${pull.name}`, pull]))
    for (const [key, each] of this.#followed) {
      if (named.has(key)) continue
      this.#followed.delete(key)
      await each.close()
    }
    for (const [key, pull] of named) {
      const each = this.#followed.get(key) ?? new FollowedPull(pull, this.#sources)
      this.#followed.set(key, each)
      each.look(pull)
    }
    if (this.#cleaned === wanted) return
    await keepPullResults(this.#sources.redis, wanted)
    this.#cleaned = wanted
  }

  async close(): Promise<void> {
    const closed = Promise.all(Array.from(this.#followed.values(), (each) => each.close()))
    // A Redis that hangs would delay the end; results that are not written are pulled again after the next start.
    await within(LAST_WRITE_MS, closed)
  }
}

/** A configured pull, with at most one request under way. */
class FollowedPull {
  readonly #sources: PullerSources
  #pull: Pull
  /** The last body that was not refused; after a start it is fetched anew. */
  #body: PulledBody | undefined
  /** The body that was taken last, and the roster version that it was compared with. */
  #taken: { readonly body: PulledBody; readonly version: number } | undefined
  /** By `performance.now()`. */
  #dueAt = -Infinity
  #tries = 0
  #asking: AbortController | undefined
  #running: Promise<void> | undefined

  constructor(pull: Pull, sources: PullerSources) {
    this.#pull = pull
    this.#sources = sources
  }

  /**
   * Pulls if the present settings make a pull due. After a change of settings, an answer to a request with the old ones is
   * dropped.
   */
  look(pull: Pull): void {
    if (!isDeepStrictEqual(pull, this.#pull)) {
      if (pull.url !== this.#pull.url) this.#body = undefined
      this.#pull = pull
      this.#dueAt = -Infinity
      this.#asking?.abort()
    }
    if (this.#running || performance.now() < this.#dueAt) return
    this.#running = this.#run(pull).finally(() => (this.#running = undefined))
  }

  async close(): Promise<void> {
    this.#asking?.abort()
    await this.#running
  }

  async #run(pull: Pull): Promise<void> {
    const asking = new AbortController()
    this.#asking = asking
    let nextMs = pull.every
    try {
      const failure = await this.#take(pull, asking.signal)
      if (asking.signal.aborted) return
      this.#tries = failure ? this.#tries + 1 : 0
      if (failure) nextMs = this.#retryMs(failure)
    } catch (error) {
      nextMs = SOON_MS
      jobFaults(this.#sources.logger)(error, 'a pulled roster')
    } finally {
      this.#asking = undefined
      // Settings that changed during the request make the next pull due at once.
      if (isDeepStrictEqual(pull, this.#pull)) this.#dueAt = performance.now() + spread(nextMs)
    }
  }

  /** Resolves to the reason why the roster is not in effect, if so. Rejects if Redis does not answer. */
  async #take(pull: Pull, signal: AbortSignal): Promise<NotPulled | ApiRefusal | undefined> {
    try {
      const fetched = await fetchRoster(pull, { known: this.#body, signal })
      if (signal.aborted) return undefined
      const body = fetched ?? this.#body
      if (body) await this.#write(body, pull)
      // The settings may name another server by now.
      if (!signal.aborted) this.#body = body
      return undefined
    } catch (error) {
      if (!(error instanceof NotPulled || error instanceof ApiRefusal)) throw error
      // All others write all the time.
      if (error instanceof ApiRefusal && error.code === 504) throw error
      if (!signal.aborted) await this.#noteFailure(pull, error)
      return error
    }
  }

  async #write(body: PulledBody, pull: Pull): Promise<void> {
    const { live, redis, logger } = this.#sources
    const before = await readPullResult(redis, pull)
    const version = live.version()
    if (before && this.#taken?.body === body && this.#taken.version === version)
      return notePullResult(redis, { ...before, pulled_at: Date.now(), failing: undefined })
    const { result, isChanged } = await takeRoster(body.bytes, pull, this.#sources)
    this.#taken = { body, version }
    const { at, added, changed, removed } = isChanged || !before ? result : before
    await notePullResult(redis, { ...result, at, added, changed, removed, pulled_at: Date.now() })
    if (isChanged)
      logger.info({ roster: pull.name, company_id: pull.company_id, added, changed, removed }, 'roster pulled')
  }

  async #noteFailure(pull: Pull, error: NotPulled | ApiRefusal): Promise<void> {
    const { redis } = this.#sources
    const { company_id, name } = pull
    const now = Date.now()
    const never = { writer: name, kind: 'pull', company_id, at: now, added: 0, changed: 0, removed: 0 } as const
    const before = (await readPullResult(redis, pull)) ?? { ...never, rejected: [], warnings: [] }
    const isRefused = error instanceof ApiRefusal
    const failing: PullFailure = {
      since: before.failing?.since ?? now,
      tries: (before.failing?.tries ?? 0) + 1,
      reason: isRefused ? error.text : error.reason,
      ...(isRefused && { refused: true }),
    }
    await notePullResult(redis, { ...before, failing })
  }

  /**
   * Returns the time until the next try: a failing server is asked soon, then less often; one whose roster is refused, at its
   * interval.
   */
  #retryMs(failure: NotPulled | ApiRefusal): number {
    const { every } = this.#pull
    if (failure instanceof ApiRefusal) return every
    const growing = Math.min(FIRST_RETRY_MS * 2 ** (this.#tries - 1), LAST_RETRY_MS, every)
    return Math.max(growing, Math.min(failure.retryMs, MOST_RETRY_MS))
  }
}

/** Varies a time by a tenth, so that pulls that began together spread out. */
function spread(ms: number): number {
  return ms * (0.9 + 0.2 * Math.random())
}

const LAST_WRITE_MS = 500
/** Delay of the next try while Redis is away. */
const SOON_MS = 2000
const FIRST_RETRY_MS = 10_000
const LAST_RETRY_MS = 300_000
/** The longest time that a server may ask to be left alone. */
const MOST_RETRY_MS = 3_600_000
