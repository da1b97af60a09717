import type { Config } from '../../config/schema.ts'
import { startCopying } from '../../copies/index.ts'
import { startPushing } from '../../push/index.ts'
import { Replica } from '../../roster/replica.ts'
import { signOn } from '../../store/index.ts'
import { openStore, type Role, type RoleAddresses } from '../role.ts'
import { ApiClients } from './api-clients.ts'
import { type Live, placeIn } from './live.ts'
import { redisReadiness } from './readiness.ts'

/** The process that pushes waiting positions to the tracking APIs, to the one at `baseUrl` or a company's own, and copies to other receivers. */
export async function startWorker(live: Live, { redisServer, baseUrl, identity }: RoleAddresses): Promise<Role> {
  const { config, logger } = live
  const redis = openStore(redisServer, 'worker', logger)
  void live.join(new Replica(redis, logger))
  const connections = (concurrency = config.push.concurrency) => concurrency
  const clients = new ApiClients(
    { config, baseUrl, connections, again: () => setCompanies(), logger },
    live.companies(),
  )
  const pushing = startPushing({
    redis,
    client: clients.usual,
    companyApis: clients.companies,
    place: placeIn(live),
    isConfigured: (device) => live.directory().find(device) !== undefined,
    apikeys: apikeysOf(live.companies()),
    batch: config.batch,
    keep: config.keep,
    push: config.push,
    zone: config.time_zone,
    logger,
  })
  const copying = startCopying({
    redis,
    settings: live,
    names: {
      nameOf(company, device) {
        const entry = live.directory().find(device)
        return entry?.company_id === company ? entry.name : undefined
      },
      apikeysOf: (company) => apikeysOf(live.companies()).get(company) ?? [],
    },
    timeoutMs: config.push.timeout,
    firstDelayMs: config.push.first_delay,
    maxDelayMs: config.push.max_delay,
    most: config.batch.max_positions,
    stopAt: config.redis.stop_at,
    logger,
  })
  const setCompanies = () => {
    // First the APIs: no key is shown to the previous API.
    pushing.setApis(clients.use(live.companies()))
    pushing.setApikeys(apikeysOf(live.companies()))
  }
  live.follow({ roster: (changed) => pushing.rosterChanged(changed), companies: setCompanies })
  const sharing = signOn(redis, { ...identity, role: 'worker', installation: config.data_dir }, () => ({
    ...pushing.figures(),
    url: new URL(config.tracking.push_url ?? baseUrl).origin,
  }))
  return {
    readiness: redisReadiness(redis, config.redis),
    async close() {
      await Promise.all([pushing.stop(), copying.stop(), sharing.stop()])
      await live.close()
      redis.disconnect()
    },
  }
}

function apikeysOf(companies: Config['companies']): Map<string, readonly string[]> {
  return new Map(companies.map(({ company_id, apikey }) => [company_id, [apikey].flat()]))
}
