import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { Copy } from '../../src/config/copies.ts'
import { configSchema } from '../../src/config/schema.ts'
import { startCopying } from '../../src/copies/index.ts'
import { createLogger } from '../../src/observe/log.ts'
import {
  Appender,
  connect,
  type CopiedFix,
  packDevice,
  packRecords,
  type Position,
  type Store,
  withCopied,
} from '../../src/store/index.ts'
import { UNFILTERED } from './appending.ts'
import { freePorts } from './free-ports.ts'
import { listening } from './listening.ts'
import type { TestRedis } from './redis.ts'

export const VAN = '356307042441013'
const silent = createLogger('test', { level: 'fatal', format: 'json' })

/** A copy as gateway.yaml says. */
export function copyOf(values: Readonly<Record<string, unknown>>): Copy {
  return configSchema(null).parse({ copies: [{ name: 'crm', to: 'http://127.0.0.1:9', ...values }] }).copies[0]
}

const fixAt = (timestamp: number): Position => ({ timestamp, latitude: 52.5, longitude: 13.4, accuracy: 5 })

interface Stored {
  readonly device?: string
  readonly lane?: string
  readonly logs?: string
  /** Whether the fixes have no route: they are held. */
  readonly isUnassigned?: boolean
  readonly beside?: Pick<CopiedFix, 'altitude' | 'satellites' | 'said'>
}

/** Stores fixes with these times, in seconds, for lanes and copies. */
export async function storeCopied(redis: Store, times: readonly number[], stored: Stored = {}): Promise<void> {
  const { device = VAN, lane = '7/42/1001', logs = lane.split('/')[0], beside = {}, isUnassigned } = stored
  const [, courier, route] = lane.split('/')
  const positions = times.map(fixAt)
  const { records, copied } = withCopied(packRecords(positions, packDevice(device), Date.now()), {
    positions,
    beside: positions.map(() => beside),
    place: { device, lane: isUnassigned ? undefined : { courier, route } },
    logs,
    hasSaid: true,
  })
  const appender = new Appender(redis, UNFILTERED)
  const held = { held: 'no_route', isProven: true, lookAt: Date.now() + 3_600_000, rosterVersion: 0 } as const
  const part = { device, records, copied, ...(isUnassigned ? held : { lane }) }
  await appender.append({ parts: [part], received: times.length, filtered: [] })
  await appender.close()
}

/** Sends copies as a worker does, until the test is over. */
export function copying(
  server: TestRedis,
  copies: readonly Copy[],
  { apikeys = ['key-7'], companies = ['7'], shards = 1, timeoutMs = 5000, stopAt = 0.85 } = {},
) {
  const redis = connect({ url: server.url, shards }, 'worker')
  const settings = { copies, companies: companies.map((company_id) => ({ company_id })) }
  const { stop } = startCopying({
    redis,
    settings: { copies: () => settings.copies, companies: () => settings.companies },
    names: { nameOf: (_company, device) => (device === VAN ? 'Van 12' : undefined), apikeysOf: () => apikeys },
    timeoutMs,
    firstDelayMs: 20,
    maxDelayMs: 100,
    most: 50,
    stopAt,
    logger: silent,
  })
  let isOver = false
  const end = async () => {
    if (isOver) return
    isOver = true
    await stop()
    redis.disconnect()
  }
  onTestFinished(end)
  return {
    end,
    configure(next: readonly Copy[], ofCompanies?: readonly string[]) {
      settings.copies = next
      if (ofCompanies) settings.companies = ofCompanies.map((company_id) => ({ company_id }))
    },
  }
}

export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Of the JSON in it. */
  readonly fixes: readonly (Readonly<Record<string, unknown>> & { readonly device: string; readonly time: string })[]
  /** Requests of a device under way when it came, at most, itself included. */
  readonly together: number
}

/** A status, maybe with headers; undefined: there is no answer. */
type CopyAnswer = number | readonly [status: number, headers: OutgoingHttpHeaders] | undefined

/** A receiver over HTTP, until the test is over. */
export async function startCopyReceiver(answer: (request: Received) => CopyAnswer | Promise<CopyAnswer> = () => 200) {
  const seen: Received[] = []
  const taken: Received[] = []
  const underWay = new Map<string, number>()
  const open = new Set<ServerResponse>()
  let current = answer
  const server = createServer((request, response) => void take(request, response))

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    open.add(response)
    response.once('close', () => open.delete(response))
    const chunks = await request.toArray().catch(() => undefined)
    if (!chunks) return
    const body = Buffer.concat(chunks).toString()
    const { method = '', url = '', headers } = request
    const fixes = body.startsWith('[') ? (JSON.parse(body) as Received['fixes']) : []
    const id = new URL(url, 'http://x').searchParams.get('id')
    const devices = id === null ? [...new Set(fixes.map(({ device }) => device))] : [id]
    for (const device of devices) underWay.set(device, (underWay.get(device) ?? 0) + 1)
    const together = Math.max(...devices.map((device) => underWay.get(device) ?? 0))
    const received = { method, url, headers, body, fixes, together }
    seen.push(received)
    // Time in which another request of the device would be noticed.
    await sleep(2)
    const [status, own] = [await current(received)].flat() as [number?, OutgoingHttpHeaders?]
    for (const device of devices) underWay.set(device, (underWay.get(device) ?? 1) - 1)
    if (status === undefined) return
    if (status < 300) taken.push(received)
    response.writeHead(status, own).end(status < 300 ? '' : 'no')
  }

  const [port] = await freePorts(1)
  await listening(server, port)
  const close = () => {
    for (const response of open) response.destroy()
    server.closeAllConnections()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  }
  onTestFinished(close)
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    /** The times of the fixes of a device that it has taken, in seconds, in order. */
    timesOf: (device = VAN) =>
      taken.flatMap(({ fixes }) =>
        fixes.flatMap((fix) => (fix.device === device ? [Date.parse(fix.time) / 1000] : [])),
      ),
    taken,
    answer(next: typeof answer) {
      current = next
    },
    close,
    open: () => listening(server, port),
  }
}
