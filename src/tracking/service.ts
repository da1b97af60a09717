import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { fastify, type FastifyInstance } from 'fastify'
import type { Logger } from '../observe/log.ts'
import type { Provisioning } from './provisioning.ts'
import { createAccess } from './service/access.ts'
import type { ServiceContext } from './service/context.ts'
import { openDatabase } from './service/database.ts'
import { answerBadPath, answerErrors } from './service/errors.ts'
import { createGroupCommit } from './service/group-commit.ts'
import { createItemStore } from './service/items.ts'
import { exactJson } from './service/json.ts'
import { createLaneStore } from './service/lanes.ts'
import { createNumberStore } from './service/numbers.ts'
import { openapi } from './service/openapi.ts'
import { serveOperations } from './service/operations.ts'
import { createPositionStore } from './service/positions.ts'

export interface TrackingServiceOptions {
  /** Port 0: any free one. */
  readonly listen: { readonly host: string; readonly port: number }
  readonly databaseFile: string
  readonly provisioning: Provisioning
  /** How long an operation may work before it answers 504. */
  readonly timeLimitMs: number
  /** Resolves once `provision` was called with what holds by now: asked before a courier or a route counts as unknown. */
  readonly catchUp?: () => Promise<void>
  readonly logger: Logger
}

/** A tracking service that listens. */
export interface TrackingService {
  readonly port: number
  /** Replaces companies, and adds routes or replaces them where these are all, at once. What is stored stays. */
  provision(provisioning: Provisioning): void
  /** Stops accepting, answers what has arrived, closes the database. */
  close(): Promise<void>
}

/** Starts the tracking service of tracking-interface.md. @throws where the port or the database cannot be had. */
export async function createTrackingService(options: TrackingServiceOptions): Promise<TrackingService> {
  const database = openDatabase(options.databaseFile)
  const lanes = createLaneStore(database)
  const commits = createGroupCommit(database, MAX_ROWS_PER_COMMIT)
  const context: ServiceContext = {
    access: createAccess(options.provisioning.companies),
    lanes,
    positions: createPositionStore(database, commits),
    numbers: createNumberStore(database, commits),
    items: createItemStore(database, commits),
    timeLimitMs: options.timeLimitMs,
    catchUp: options.catchUp,
  }
  const app = createApp(context, options.logger)
  const stop = async () => {
    await close(app)
    database.close()
  }
  try {
    // The port first: a start that fails changes nothing. No request is read before what follows this event at once.
    const provisioned = once(app.server, 'listening').then(() => lanes.provision(options.provisioning))
    // fastify writes into what it is given.
    await Promise.all([app.listen({ ...options.listen }), provisioned])
  } catch (error) {
    await stop()
    throw error
  }
  return {
    port: (app.server.address() as AddressInfo).port,
    provision: (provisioning) => {
      lanes.provision(provisioning)
      context.access = createAccess(provisioning.companies)
    },
    close: stop,
  }
}

/** fastify logs nothing: URLs have the apikey in them. Bodies are read by the operations, after who asks is known. */
function createApp(context: ServiceContext, logger: Logger): FastifyInstance {
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    frameworkErrors: answerBadPath,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setReplySerializer(exactJson)
  app.decorateRequest('companyId', '')
  answerErrors(app, logger)
  app.get('/healthz', async () => ({ status: 'ok' }))
  openapi(app)
  serveOperations(app, context)
  return app
}

/** Waits for requests under way, not for ever. */
async function close(app: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS)
  await app.close()
  clearTimeout(cut)
}

// A path parameter of any length is answered by its operation (422), not as an unknown path; Node limits the whole.
const MAX_PARAMETER_LENGTH = 16_384
// 10 to 30 ms of blocked event loop.
const MAX_ROWS_PER_COMMIT = 4_000
const REQUEST_TIMEOUT_MS = 60_000
const CLOSE_TIMEOUT_MS = 5_000
