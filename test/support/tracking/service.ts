import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { Agent, type Dispatcher } from 'undici'
import { afterAll } from 'vitest'
import { createTrackingService } from '../../../src/sandbox/tracking/service.ts'
import type { Provisioning } from '../../../src/tracking/provisioning.ts'

/** The greatest int64, which no JavaScript number can hold. */
export const MAX_ID = '9223372036854775807'

/** Company 7 drives routes 1001 (courier 42) and MAX_ID (courier MAX_ID); company 8 drives route 2001 (courier 43). */
export const PROVISIONING: Provisioning = {
  companies: [
    { company_id: '7', apikeys: ['key-7', 'old key+7/&'], oauth_tokens: ['token-7'] },
    { company_id: '8', apikeys: ['key-8'], oauth_tokens: ['token-8'] },
    { company_id: MAX_ID, apikeys: ['key-max'], oauth_tokens: ['token-max'] },
  ],
  routes: [
    { route_id: '1001', courier_id: '42', company_id: '7' },
    { route_id: '1002', courier_id: '41', company_id: '7' },
    { route_id: '2001', courier_id: '43', company_id: '8' },
    { route_id: MAX_ID, courier_id: MAX_ID, company_id: MAX_ID },
  ],
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly json: unknown
}

export interface HttpRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'PATCH' | 'HEAD'
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
}

/** A folder that is removed after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waybridge-tracking-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A service on a free port, closed after the tests of the file, with a function to send requests. */
export async function startService({
  timeLimitMs = 60_000,
  databaseFile = join(temporaryFolder(), 'tracking.sqlite'),
  catchUp,
}: {
  timeLimitMs?: number
  databaseFile?: string
  catchUp?: () => Promise<void>
} = {}) {
  const log: string[] = []
  const service = await createTrackingService({
    listen: { host: '127.0.0.1', port: 0 },
    databaseFile,
    provisioning: PROVISIONING,
    timeLimitMs,
    catchUp,
    logger: pino({}, { write: (line) => void log.push(line) }),
  })
  const agent = new Agent()
  afterAll(async () => {
    await agent.close()
    await service.close()
  })
  const url = `http://127.0.0.1:${service.port}`
  return {
    ...service,
    url,
    databaseFile,
    log,
    send: (path: string, options?: HttpRequest) => send(agent, { origin: url, path, method: 'GET', ...options }),
  }
}

/** Sends the path unchanged, `..` and broken percent-encodings included. */
async function send(agent: Agent, request: Dispatcher.RequestOptions): Promise<HttpAnswer> {
  const { statusCode, headers, body } = await agent.request(request)
  const text = await body.text()
  return { status: statusCode, headers, text, json: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
