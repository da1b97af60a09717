import { grouped } from '../lanes/index.ts'
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../tracking/http.ts'
import { accessBy, type Tokens } from './access.ts'
import { takeAccount } from './account.ts'
import { auditOperations, keepAudit } from './audit.ts'
import { watchCustody } from './custody-watch.ts'
import { type DeviceSources, deviceOperations } from './device/device.ts'
import { deviceListOperations } from './device/list.ts'
import { countDevices } from './device/state.ts'
import { answerFault } from './errors.ts'
import { startGauges } from './gauges.ts'
import { type HealthSources, healthOperations } from './health.ts'
import { laneOperations } from './lanes.ts'
import { misunderstoodOperations } from './misunderstood.ts'
import { openApiOperation } from './openapi.ts'
import { register } from './operation.ts'
import { type ParkedSources, parkedOperations } from './parked.ts'
import { watchRates } from './rates.ts'
import { watchTokens } from './relay/token.ts'
import { type RelaySources, relayOperations } from './relay.ts'
import { routeOperations } from './roster/routes.ts'
import { type RosterSources, rosterWrites } from './roster/writes.ts'
import { statusOperations } from './status.ts'
import { readUpstream } from './upstream.ts'

export { adminTokens, type Tokens, tokenFile } from './access.ts'

export interface AdminOptions
  extends DeviceSources,
    HealthSources,
    ParkedSources,
    RosterSources,
    Pick<RelaySources, 'companies' | 'tracking' | 'heldBytes'>,
    Pick<HttpServerOptions, 'readerMs'> {
  /** Port 0: any free one. */
  readonly listen: { readonly host: string; readonly port: number }
  readonly tokens: Tokens
}

/** An admin port that listens. */
export interface Admin {
  readonly port: number
  /** Stops accepting, answers what has arrived. */
  close(): Promise<void>
}

/** Opens the admin port. One in a process: its gauges are of that process' metrics. @throws where the port cannot be had. */
export async function openAdmin(options: AdminOptions): Promise<Admin> {
  const { directory, idleMs, logger, redis } = options
  const startedAt = Date.now()
  const account = inTurn(() => takeAccount(redis))
  const upstream = () => readUpstream(redis, startedAt)
  const rates = watchRates(redis)
  const custody = watchCustody(account, logger)
  const gauges = startGauges({ redis, account, upstream, devices: () => countDevices(redis, directory(), idleMs) })
  const tokens = watchTokens(options.companies, logger)
  const closing = new AbortController()
  const change = rosterWrites(options)
  const zone = () => options.loaded().config.time_zone
  const server = createServer(options)
  const secrets = () => [
    ...options.tokens.tokens.map(({ token }) => token),
    ...options.companies().flatMap(({ apikey, oauth_token = apikey }) => [apikey, oauth_token]),
  ]
  keepAudit(server.app, { redis, logger, secrets })
  const operations = [
    ...healthOperations(options),
    ...statusOperations({ account, upstream, rates: rates.now, tokensRefused: tokens.refused, zone }),
    ...laneOperations(redis),
    ...deviceListOperations(options),
    ...deviceOperations(options, change),
    ...routeOperations(options, change),
    ...parkedOperations(options),
    ...misunderstoodOperations(redis),
    ...auditOperations(redis),
    ...relayOperations({ ...options, tokens, closing: closing.signal }),
  ]
  register(server.app, [...operations, openApiOperation(operations)], accessBy(options.tokens))

  async function stop(): Promise<void> {
    rates.close()
    custody.close()
    gauges.close()
    await close(server, () => closing.abort())
  }
  try {
    return { port: await server.listen(options.listen), close: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** One run at a time; whoever asks while one is under way gets the result of the next. */
function inTurn<Result>(run: () => Promise<Result>): () => Promise<Result> {
  return grouped<void, Result>(async (asking) => Array<Result>(asking.length).fill(await run()))
}

function createServer({ redis, logger, readerMs }: AdminOptions): HttpServer {
  const server = createHttpServer({
    bodyLimit: MAX_BODY_BYTES,
    fault: answerFault(redis, logger),
    closeMs: CLOSE_TIMEOUT_MS + LAST_ANSWERS_MS,
    readerMs,
  })
  const { app } = server
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null))
  app.addHook('onRequest', async (_request, reply) => void reply.headers(HEADERS))
  app.addHook('onResponse', async ({ method, routeOptions }, { statusCode, elapsedTime }) =>
    logger.debug({ method, path: routeOptions.url, status: statusCode, ms: Math.round(elapsedTime) }, 'request'),
  )
  return server
}

/** Waits for requests under way, not for ever: what is relayed is given up, and what then is still not answered is cut. */
async function close(server: HttpServer, giveUp: () => void): Promise<void> {
  const givenUp = setTimeout(giveUp, CLOSE_TIMEOUT_MS)
  await server.close()
  clearTimeout(givenUp)
  giveUp()
}

/** Answers are for who asked alone, and nothing that a browser would run or show in a frame. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}
const MAX_BODY_BYTES = 65_536
const CLOSE_TIMEOUT_MS = 2000
const LAST_ANSWERS_MS = 500
