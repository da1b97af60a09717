import type { Company } from '../config/schema.ts'
import type { MissingFixes, Store } from '../store/index.ts'
import type { TrackingClient } from '../tracking/client.ts'
import { ReadBack } from './read-back.ts'
import type { BatchSettings } from './repair.ts'
import { type RunResult, VerifyRun, type Wanted } from './run.ts'
import { Sampler, type VerifySettings } from './sampler.ts'
import { Settlement } from './settle.ts'

export type { RunResult, Wanted } from './run.ts'
export type { VerifySettings } from './sampler.ts'

export interface VerifierSources {
  readonly redis: Store
  /** Returns the client for the API of a company. */
  readonly tracking: (company_id: string) => Pick<TrackingClient, 'baseUrl' | 'request' | 'timeoutMs'>
  readonly companies: () => readonly Company[]
  readonly settings: VerifySettings
  /** For how long delivered fixes are kept, ms. */
  readonly keptMs: number
  readonly batch: BatchSettings
  /** The time zone of local days. */
  readonly zone: () => string
  /** Resolves to a function that tells whether the API of a company accepts pushes now. */
  readonly isUp: () => Promise<(company_id: string) => boolean>
  /** Notes with which status a request with the OAuth token of a company was answered. */
  readonly answered: (company: Company, status: number) => void
  /** Least ms from one request to the next; default: 1 s. */
  readonly gapMs?: number
  /** ms between two reads of missing fixes in a requested run; default: 30 s. */
  readonly pauseMs?: number
  /** About so many requests are made if somebody asks; default: 60. */
  readonly mostRequests?: number
}

/** Reads delivered fixes back from the tracking API, and keeps those that are missing. */
export class Verifier {
  readonly #sources: VerifierSources
  readonly #closing = new AbortController()
  readonly #settlement: Settlement
  readonly #readBack: ReadBack
  readonly #sampler: Sampler
  #looks = 0

  constructor(sources: VerifierSources) {
    const { answered, companies, gapMs, tracking } = sources
    this.#sources = sources
    this.#settlement = new Settlement(sources)
    this.#readBack = new ReadBack({ answered, companies, gapMs, tracking, signal: this.#closing.signal })
    this.#sampler = new Sampler({ ...sources, readBack: this.#readBack, settlement: this.#settlement })
  }

  /** Missing fixes as of some seconds ago. */
  get missing(): readonly MissingFixes[] {
    return this.#settlement.missing
  }

  /**
   * Compares a share of the delivered fixes, until it is closed. Call it once a second. Rejects if Redis does not answer.
   * `now`: ms UTC.
   */
  async look(now = Date.now()): Promise<void> {
    if (this.#looks++ % 5 === 0) await this.#settlement.look(now)
    const { signal } = this.#closing
    if (this.#sources.keptMs === 0 || signal.aborted) return
    await this.#sampler.look(now).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
  }

  /** Compares all wanted fixes. Rejects if Redis does not answer, or with an AbortError. */
  run(wanted: Wanted, now = Date.now()): Promise<RunResult> {
    const signal = AbortSignal.any([wanted.signal, this.#closing.signal])
    const { settings } = this.#sources
    const own = { readBack: this.#readBack, settlement: this.#settlement, afterMs: settings.after }
    return new VerifyRun({ ...this.#sources, ...own }, { ...wanted, signal }, now).result()
  }

  /** Ends what is under way. */
  close(): void {
    this.#closing.abort()
  }
}
