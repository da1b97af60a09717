import { setTimeout as sleep } from 'node:timers/promises'
import { inTurns } from '../async.ts'
import type { Company } from '../config/schema.ts'
import { companyOfLane } from '../domain/ids.ts'
import { ApiRefusal } from '../http/refusal.ts'
import { say, type Text } from '../texts/text.ts'
import { isForeign } from '../tracking/answer.ts'
import { attempt, readWindows } from '../tracking/attempts.ts'
import type { TrackingClient } from '../tracking/client.ts'
import { bodyOf, type Failure, type Reply } from '../tracking/exchange.ts'
import { CourierPosition, type CourierPosition as Position } from '../tracking/schemas.ts'

export interface ReadBackSources {
  /** Returns the client for the API of a company. */
  readonly tracking: (company_id: string) => Api
  readonly companies: () => readonly Company[]
  /** Notes with which status a request with the OAuth token of a company was answered. */
  readonly answered?: (company: Company, status: number) => void
  /** Aborts the request in flight. */
  readonly signal: AbortSignal
  /** Least ms from one request to the next; default: 1 s. */
  readonly gapMs?: number
}

type Api = Pick<TrackingClient, 'request' | 'timeoutMs'>

/** Why a comparison with the API was not possible. */
export interface NotKnown {
  readonly reason: 'no_token' | 'refused' | 'no_operation' | 'no_answer' | 'not_readable' | 'couriers' | 'other_api'
  readonly message: Text
}

/** Unix seconds, both ends included; at most two hours. */
export interface ReadInterval {
  /** `7/1003`: company and route. */
  readonly route: string
  readonly from: number
  readonly to: number
}

/** Reads positions back from the tracking APIs with the companies' OAuth tokens: of each API one request at a time, and one a second. */
export class ReadBack {
  readonly #sources: ReadBackSources
  readonly #turns = new WeakMap<object, { readonly inTurn: ReturnType<typeof inTurns>; nextAt: number }>()

  constructor(sources: ReadBackSources) {
    this.#sources = sources
  }

  /** The positions of a route in an interval, in any order. Rejects with an AbortError once `signal` is aborted. */
  async read(asked: ReadInterval): Promise<readonly Position[] | NotKnown> {
    for (;;) {
      const api = this.#apiOf(asked.route)
      const turns = this.#turns.get(api) ?? { inTurn: inTurns(), nextAt: 0 }
      this.#turns.set(api, turns)
      const found = await turns.inTurn(() => this.#readFrom(api, turns, asked))
      if (found !== 'elsewhere') return found
    }
  }

  /** Shows an API the token that the company has when its turn comes; `elsewhere`: the company has another API by then. */
  async #readFrom(api: Api, turns: { nextAt: number }, asked: ReadInterval) {
    for (;;) {
      if (this.#companyOf(asked.route)?.oauth_token === undefined) return noToken(asked.route)
      await this.#turn(turns)
      const company = this.#companyOf(asked.route)
      if (company?.oauth_token === undefined) return noToken(asked.route)
      if (this.#apiOf(asked.route) !== api) return 'elsewhere' as const
      const outcome = await this.#ask(api, asked, company.oauth_token)
      this.#sources.signal.throwIfAborted()
      // The answer tells nothing about another API, nor about a token that has replaced this one in between.
      if (this.#apiOf(asked.route) !== api) return 'elsewhere' as const
      const isNew = this.#companyOf(asked.route)?.oauth_token !== company.oauth_token
      if (!('fault' in outcome) && outcome.status === 401 && isNew) continue
      if (!('fault' in outcome) && !isForeign(outcome)) this.#sources.answered?.(company, outcome.status)
      return positionsOf(outcome, asked.route)
    }
  }

  #apiOf(route: string): Api {
    return this.#sources.tracking(companyOfLane(route))
  }

  #companyOf(route: string): Company | undefined {
    return this.#sources.companies().find(({ company_id }) => company_id === companyOfLane(route))
  }

  async #turn(turns: { nextAt: number }): Promise<void> {
    const { gapMs = GAP_MS, signal } = this.#sources
    const waitMs = turns.nextAt - performance.now()
    if (waitMs > 0) await sleep(waitMs, undefined, { signal })
    turns.nextAt = performance.now() + gapMs
  }

  async #ask(api: Api, { route, from, to }: ReadInterval, oauthToken: string): Promise<Reply | Failure> {
    const { signal } = this.#sources
    const [company_id, route_id] = route.split('/')
    const request = { operation: 'courierPositions' as const, params: { company_id, route_id }, oauthToken, signal }
    try {
      return await readWindows({ from: BigInt(from), to: BigInt(to) }, (window, maxBytes) =>
        attempt(api, {
          ...request,
          headers: { accept: 'application/json' },
          query: { from: String(window.from), to: String(window.to) },
          maxBytes,
        }),
      )
    } catch (error) {
      if (error instanceof ApiRefusal) return { fault: 'too_large' }
      throw error
    }
  }
}

function noToken(route: string): NotKnown {
  return { reason: 'no_token', message: say('company {} has no oauth_token in gateway.yaml', companyOfLane(route)) }
}

function positionsOf(outcome: Reply | Failure, route: string): readonly Position[] | NotKnown {
  if ('fault' in outcome) {
    const isAnswer = outcome.fault === 'malformed' || outcome.fault === 'too_large' || outcome.fault === 'long_error'
    return isAnswer
      ? NOT_READABLE
      : { reason: 'no_answer', message: say('the tracking API does not answer: {}', outcome.fault) }
  }
  const { status } = outcome
  if (isForeign(outcome)) return NOT_READABLE
  if (status === 200) return parsed(outcome)
  if (status === 401 || status === 403) {
    const company = companyOfLane(route)
    return {
      reason: 'refused',
      message: say('the tracking API refuses to be read for company {}: {}', company, status),
    }
  }
  if (NO_OPERATION.has(status))
    return { reason: 'no_operation', message: say('the tracking API cannot be read back: it answers {}', status) }
  return { reason: 'no_answer', message: say('the tracking API answers {}', status) }
}

/** An answer with one entry that is no position is no answer: others may be wrong as well. */
function parsed(reply: Reply): readonly Position[] | NotKnown {
  const list = JSON.parse(bodyOf(reply).toString()) as unknown[]
  const positions: Position[] = []
  for (const each of list) {
    const { data } = CourierPosition.safeParse(each)
    if (!data) return NOT_READABLE
    positions.push(data)
  }
  return positions
}

const NOT_READABLE: NotKnown = {
  reason: 'not_readable',
  message: say('the answer of the tracking API is not a whole list of positions'),
}
const NO_OPERATION: ReadonlySet<number> = new Set([404, 405, 501])
const GAP_MS = 1000
