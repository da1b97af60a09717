import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { pino } from 'pino'
import { Agent, type Dispatcher } from 'undici'
import { afterAll, beforeAll } from 'vitest'
import type { Admin, AdminOptions } from '../../src/admin/index.ts'
import type { Company } from '../../src/config/schema.ts'
import type { Store } from '../../src/store/index.ts'
import { createTrackingClient, type TrackingClient, type TrackingClientOptions } from '../../src/tracking/client.ts'
import { connected, NOWHERE, OPERATE, openBare } from './admin.ts'
import { startTestRedis, type TestRedis } from './redis.ts'
import { httpServer } from './tracking/http-servers.ts'

export { OPERATE, READ } from './admin.ts'

interface RelayAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
  readonly text: string
  readonly json: unknown
}

interface RelayRequest {
  readonly method?: Dispatcher.HttpMethod
  /** Default: those of a token with the role operate. */
  readonly headers?: Record<string, string> | string[]
  readonly body?: string | Buffer
  readonly signal?: AbortSignal
}

export interface RelayFixture {
  readonly port: number
  /** The configured companies; tests may replace them. */
  companies: Company[]
  /** The log lines that were written. */
  readonly log: string[]
  /** Relays to another service from now on. */
  relayTo(baseUrl: string, options?: Partial<TrackingClientOptions>): void
  ask(path: string, request?: RelayRequest): Promise<RelayAnswer>
}

/** An admin port with a real Redis, and a relay to a service that a test chooses. */
export function relayFixture(
  companies: readonly Company[],
  limits: Pick<AdminOptions, 'heldBytes' | 'readerMs'> = {},
): RelayFixture {
  const all = {} as { server: TestRedis; redis: Store; admin: Admin; tracking: TrackingClient }
  const clients: TrackingClient[] = []
  const log: string[] = []
  const agent = new Agent()
  const fixture = { companies: [...companies] }

  function relayTo(baseUrl: string, options: Partial<TrackingClientOptions> = {}): void {
    all.tracking = createTrackingClient({ baseUrl, timeoutMs: 20_000, connections: 8, ...options })
    clients.push(all.tracking)
  }

  beforeAll(async () => {
    all.server = await startTestRedis()
    all.redis = await connected(all.server.url)
    relayTo(NOWHERE)
    all.admin = await openBare({
      redis: all.redis,
      tracking: () => following(() => all.tracking),
      companies: () => fixture.companies,
      ...limits,
      logger: pino({ level: 'trace' }, { write: (line) => void log.push(line) }),
    })
  })
  afterAll(async () => {
    await all.admin.close()
    await Promise.all([agent.destroy(), ...clients.map((client) => client.close())])
    all.redis.disconnect()
    await all.server.stop()
  })

  return {
    get port() {
      return all.admin.port
    },
    get companies() {
      return fixture.companies
    },
    set companies(changed) {
      fixture.companies = changed
    },
    log,
    relayTo,
    ask: (path, request = {}) =>
      ask(agent, { origin: `http://127.0.0.1:${all.admin.port}`, path, method: 'GET', headers: OPERATE, ...request }),
  }
}

/** A request that a service received. */
export interface Seen {
  readonly method?: string
  readonly url?: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A service that records its requests and answers with a function; it ends after the test. */
export async function recordingServer(
  answer: (response: ServerResponse, seen: Seen, count: number) => unknown,
): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = []
  const url = await httpServer((request, response) => {
    const chunks: Buffer[] = []
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const { method, url: target, headers } = request
        const got = { method, url: target, headers, body: Buffer.concat(chunks) }
        answer(response, got, seen.push(got))
      })
  })
  return { url, seen }
}

/** A client whose target a test can change. */
function following(client: () => TrackingClient): TrackingClient {
  return {
    get baseUrl() {
      return client().baseUrl
    },
    get timeoutMs() {
      return client().timeoutMs
    },
    push: (request) => client().push(request),
    request: (request) => client().request(request),
    close: () => client().close(),
  }
}

async function ask(agent: Agent, request: Dispatcher.RequestOptions): Promise<RelayAnswer> {
  const { statusCode, headers, body } = await agent.request(request)
  const bytes = Buffer.from(await body.arrayBuffer())
  const text = bytes.toString()
  return { status: statusCode, headers, bytes, text, json: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
