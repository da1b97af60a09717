import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import { createHttpServer, type HttpServer } from '../../http/server.ts'
import type { Logger } from '../../observe/log.ts'
import { exactJson, MAX_BODY_BYTES } from '../../tracking/body.ts'
import { openApiDocument } from '../../tracking/openapi.ts'
import {
  OPERATIONS,
  type OperationName,
  routerPath,
  type ServedOperation,
  type ServedRequest,
  type TrackingOperation,
} from '../../tracking/operations.ts'
import { Access, type Provisioning } from '../../tracking/provisioning.ts'
import { Id } from '../../tracking/schemas.ts'
import { GroupCommit, openDatabase } from './database.ts'
import { itemOperations, MAX_ITEMS, MAX_TEXTS } from './items.ts'
import { numberOperations } from './numbers.ts'
import { courierPositions, PositionStore } from './positions.ts'
import { LaneStore, pushPositions } from './push.ts'

export interface TrackingServiceOptions {
  /** Port 0: any free one. */
  readonly listen: { readonly host: string; readonly port: number }
  readonly databaseFile: string
  readonly provisioning: Provisioning
  /** How long an operation may work before it answers 504. */
  readonly timeLimitMs: number
  /** Resolves once `provision` was called with what holds now; awaited before a lane counts as unknown. */
  readonly catchUp?: () => Promise<void>
  readonly logger: Logger
}

export type TrackingService = Awaited<ReturnType<typeof createTrackingService>>

/** Starts the tracking service (README.md). @throws if it cannot open the port or the database */
export async function createTrackingService(options: TrackingServiceOptions) {
  const { catchUp, logger, provisioning, timeLimitMs } = options
  const database = openDatabase(options.databaseFile)
  const access = new Access()
  access.replace(provisioning.companies)
  const lanes = new LaneStore(database)
  const commits = new GroupCommit(database, MAX_ROWS_PER_COMMIT)
  const positions = new PositionStore(database, commits)
  const server = createServer(logger)
  serveOperations(server.app, access, {
    ...numberOperations(database, commits),
    ...itemOperations(database, commits),
    pushPositions: pushPositions({ access, lanes, positions, catchUp }),
    courierPositions: courierPositions(positions, timeLimitMs),
  })

  /**
   * Replaces the companies and adds routes; an exhaustive provisioning replaces the routes as well. Stored data stay. @throws
   * if the database accepts no writes: then the companies are replaced, but not the routes
   */
  function provision(next: Provisioning): void {
    access.replace(next.companies)
    lanes.provision(next)
  }

  /** Accepts no more requests, answers those that have arrived, closes the database. */
  async function close(): Promise<void> {
    await server.close()
    commits.close()
    database.close()
  }

  try {
    // The port is opened first, because a start that fails must change nothing. This event comes before the first request is
    // read.
    const provisioned = once(server.app.server, 'listening').then(() => lanes.provision(provisioning))
    const [port] = await Promise.all([server.listen(options.listen), provisioned])
    return { port, provision, close }
  } catch (error) {
    await close()
    throw error
  }
}

function createServer(logger: Logger): HttpServer {
  const server = createHttpServer({
    exposeHeadRoutes: false,
    fault: (error, { routeOptions }, reply) => {
      logger.error({ err: error, operation: routeOptions.url }, 'a request failed')
      return reply.code(500).send({ message: 'a fault of the service; nothing of this request was stored' })
    },
    closeMs: CLOSE_TIMEOUT_MS,
    maxConnections: MAX_CONNECTIONS,
  })
  const { app } = server
  // Operations read bodies themselves, after they have checked the credentials.
  for (const method of app.supportedMethods) app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  app.setReplySerializer(exactJson)
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ message: 'there is no such operation' }))
  app.get('/healthz', async () => ({ status: 'ok' }))
  const document = JSON.stringify(trackingDocument())
  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(document))
  return server
}

function serveOperations(app: FastifyInstance, access: Access, served: Record<OperationName, ServedOperation>): void {
  for (const [name, { method, path, credential }] of Object.entries(OPERATIONS)) {
    app.route({
      method,
      url: routerPath(path),
      handler: async (request, reply) => {
        const asked = request as ServedRequest
        if (credential === 'oauth') access.authorizeCompany(asked)
        return served[name as OperationName](asked, reply)
      },
    })
  }
}

/** The whole tracking interface as an OpenAPI document. */
export function trackingDocument() {
  return openApiDocument({
    info: { title: 'Courier Tracking Service Interface', description: DESCRIPTION },
    securitySchemes: SECURITY_SCHEMES,
    refusals: REFUSALS,
    operations: Object.fromEntries(
      Object.entries(OPERATIONS).map(([name, operation]) => [name, { ...operation, parameter: Id }]),
    ),
  })
}

const REFUSALS: Readonly<Record<TrackingOperation['refusals'][number], string>> = {
  400: 'The interval has no beginning, is not in whole seconds, ends before it begins, or is longer than two hours.',
  401: 'Authorization failed: send a known OAuth token in the header.',
  403: 'No access to this object: it belongs to another company than the credentials, or these are unknown.',
  404: 'There is no such object.',
  422: 'Incorrect input: an id is no int64 from 0 on, the body is missing, too large or no JSON, or a field is wrong.',
  504: 'The service took too long.',
}

const SECURITY_SCHEMES = {
  oauth: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'An OAuth token of the company, as `OAuth <token>`.',
  },
  apikey: { type: 'apiKey', in: 'query', name: 'apikey', description: "The company's API key." },
} satisfies Record<TrackingOperation['credential'], object>

const DESCRIPTION = `Contractor numbers, positions of couriers, items of orders and their return.

Integers of the format int64 go up to 9223372036854775807 and are exact: read them with a parser that keeps all digits,
and write those beyond 2^53 in plain digits. The service takes at most ${MAX_ITEMS} items at once,
with at most ${MAX_TEXTS.code} characters of \`code\`, ${MAX_TEXTS.comment} of \`comment\` and
${MAX_TEXTS.price} of \`price\`.
Unknown fields are ignored. Text must be well-formed Unicode, and its length is counted in code points.
A request body has at most ${MAX_BODY_BYTES} bytes. Credentials are checked first, then access, existence, input.`

// A commit of this size blocks the event loop for 10 to 30 ms.
const MAX_ROWS_PER_COMMIT = 4_000
const CLOSE_TIMEOUT_MS = 5_000
/** More than workers open (`push.concurrency`): closing a connection repeats the push that is on its way there. */
const MAX_CONNECTIONS = 10_000
