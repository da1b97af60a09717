import { apiOfCompany, usualApi } from '../config/apis.ts'
import type { Company, Config } from '../config/schema.ts'
import { apiName } from '../domain/addresses.ts'
import { keyOf, type Store } from '../store/index.ts'

/** A configured tracking API. `id`: '' for the usual one; `name`: its host, as in `api.example`. */
export interface KnownApi {
  readonly id: string
  readonly name: string
  readonly companies: readonly string[]
}

/** Whether a tracking API accepts pushes. */
export interface Upstream {
  readonly state: 'up' | 'down' | 'limited'
  /** ms UTC. */
  readonly since: number
}

export interface ApiState extends KnownApi, Upstream {}

/** Returns the APIs of these companies; always the usual one too. `baseUrl`: its URL, also if it is the embedded service. */
export function knownApis(
  config: Pick<Config, 'push' | 'tracking'>,
  companies: readonly Company[],
  baseUrl: string,
): readonly KnownApi[] {
  const usual = { id: '', name: apiName(usualApi(config, baseUrl).push_url) }
  const each = companies.map((company) => {
    const { id = '' } = apiOfCompany(config, company, baseUrl) ?? {}
    return { id, name: id === '' ? usual.name : apiName(id), company: company.company_id }
  })
  if (each.length === 0) return [{ ...usual, companies: [] }]
  return [...Map.groupBy(each, ({ id }) => id).values()].map((same) => ({
    id: same[0].id,
    name: same[0].name,
    companies: same.map(({ company }) => company),
  }))
}

/**
 * Resolves to the state of each API: the worst state that workers noted in any shard. An API without a note is up since
 * `startedAt`, ms UTC.
 */
export function readApiStates(redis: Store, apis: readonly KnownApi[], startedAt: number): Promise<ApiState[]> {
  return Promise.all(
    apis.map(async (api) => {
      const noted = await redis.inShards((shard) => shard.hgetall(keyOf(shard.keyNames.upstream, api.id)))
      const states = noted.map(({ state = 'up', since = startedAt }) => ({ state, since: Number(since) }) as Upstream)
      return { ...api, ...(worstOf(states) ?? up(startedAt)) }
    }),
  )
}

/** States of APIs that no worker has noted anything about. */
export function unknownStates(apis: readonly KnownApi[], startedAt: number): ApiState[] {
  return apis.map((api) => ({ ...api, ...up(startedAt) }))
}

/** Returns the state that is down, else the one that is rate-limited; of several, the one that has lasted longest. */
export function worstOf<State extends Upstream>(states: readonly State[]): State | undefined {
  return states.toSorted((a, b) => WORST.indexOf(a.state) - WORST.indexOf(b.state) || a.since - b.since)[0]
}

function up(since: number): Upstream {
  return { state: 'up', since }
}

const WORST: readonly Upstream['state'][] = ['down', 'limited', 'up']
