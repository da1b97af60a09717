import { once } from 'node:events'
import type { Logger } from '../observe/log.ts'
import { exactJson } from './body.ts'
import { createHttpServer, type HttpServer } from './http.ts'
import type { Provisioning } from './provisioning.ts'
import { createAccess } from './service/access.ts'
import type { ServiceContext } from './service/context.ts'
import { openDatabase } from './service/database.ts'
import { answerFault, answerUnknown } from './service/errors.ts'
import { createGroupCommit } from './service/group-commit.ts'
import { createItemStore } from './service/items.ts'
import { createLaneStore } from './service/lanes.ts'
import { createNumberStore } from './service/numbers.ts'
import { serveOpenApi } from './service/openapi.ts'
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
  /**
   * Replaces companies, and adds routes or replaces them where these are all, at once. What is stored stays. @throws where
   * the database takes no writes: then routes are as they were, and the companies are the new ones all the same.
   */
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
  const server = createServer(context, options.logger)
  const stop = async () => {
    await server.close()
    commits.close()
    database.close()
  }
  try {
    // The port first: a start that fails changes nothing. No request is read before what follows this event at once.
    const provisioned = once(server.app.server, 'listening').then(() => lanes.provision(options.provisioning))
    const [port] = await Promise.all([server.listen(options.listen), provisioned])
    return {
      port,
      provision: (provisioning) => {
        context.access = createAccess(provisioning.companies)
        lanes.provision(provisioning)
      },
      close: stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Bodies are read by the operations, after who asks is known. */
function createServer(context: ServiceContext, logger: Logger): HttpServer {
  const server = createHttpServer({
    exposeHeadRoutes: false,
    fault: answerFault(logger),
    closeMs: CLOSE_TIMEOUT_MS,
  })
  const { app } = server
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setReplySerializer(exactJson)
  app.decorateRequest('companyId', '')
  answerUnknown(app)
  app.get('/healthz', async () => ({ status: 'ok' }))
  serveOpenApi(app)
  serveOperations(app, context)
  return server
}

// 10 to 30 ms of blocked event loop.
const MAX_ROWS_PER_COMMIT = 4_000
const CLOSE_TIMEOUT_MS = 5_000
