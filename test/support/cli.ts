import { type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import type { StatusJson } from '../../src/admin/schemas/status.ts'
import { listening } from './listening.ts'
import { CLI } from './processes.ts'

export const TOKEN = 'canary-admin-token'

/** How a command ended. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly errors: string
}

export interface Surroundings {
  readonly cwd?: string
  /** TZ is UTC if it is not given. */
  readonly env?: Readonly<Record<string, string>>
}

interface Output extends Surroundings {
  /** Whether anybody reads what it prints: without, the pipe is closed at once. */
  readonly reads?: boolean
  /** A file in place of the pipe. */
  readonly stdout?: number
}

/**
 * Runs a command to its end within this process, since a process of its own takes a third of a second of CPU: one command at
 * a time. For commands that ask something and print the answer.
 */
export function waybridge(
  args: readonly string[],
  { cwd = process.cwd(), env = {} }: Surroundings = {},
): Promise<Ended> {
  const ended = last.then(() => runHere(args, { cwd, env }))
  last = ended.catch(() => {})
  return ended
}

let last: Promise<unknown> = Promise.resolve()

/** The command sees its own folder, environment and output; `process.exit` ends it, and what it does after that counts no more. */
async function runHere(args: readonly string[], { cwd, env }: Required<Surroundings>): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>()
  const printed = { out: '', errors: '' }
  const into =
    (name: keyof typeof printed) =>
    (part: string | Uint8Array, ...rest: unknown[]) => {
      printed[name] += Buffer.from(part as string).toString()
      const done = rest.find((each) => typeof each === 'function')
      done?.()
      return true
    }
  const restores = [
    replaced(process.stdout, 'write', into('out') as typeof process.stdout.write),
    replaced(process.stderr, 'write', into('errors') as typeof process.stderr.write),
    replaced(process, 'exit', (code) => {
      resolve({ code: Number(code ?? 0), ...printed })
      throw new Error('the command has ended')
    }),
    inEnvironment({ TZ: 'UTC', WAYBRIDGE_ADMIN_URL: undefined, WAYBRIDGE_ADMIN_TOKEN: undefined, ...env }),
    inFolder(cwd),
    withoutListeners(process.stdout, 'error'),
  ]
  try {
    const { main } = await import('../../src/cli/commands.ts')
    await main(['node', 'waybridge', ...args]).catch(() => {})
    resolve({ code: 0, ...printed })
    return await promise
  } finally {
    for (const restore of restores) restore()
  }
}

/** Puts another function in the place of one of an object. Returns what puts it back. */
function replaced<Of extends object, Name extends keyof Of>(object: Of, name: Name, value: Of[Name]): () => void {
  const before = object[name]
  object[name] = value
  return () => void (object[name] = before)
}

function inEnvironment(values: Readonly<Record<string, string | undefined>>): () => void {
  const before = Object.keys(values).map((name) => [name, process.env[name]] as const)
  Object.entries(values).forEach(setVariable)
  return () => before.forEach(setVariable)
}

function setVariable([name, value]: readonly [string, string | undefined]): void {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}

/** Returns what takes away the listeners that are added from now on. */
function withoutListeners(emitter: NodeJS.EventEmitter, event: string): () => void {
  const before = new Set(emitter.listeners(event))
  return () => {
    for (const listener of emitter.listeners(event))
      if (!before.has(listener)) emitter.off(event, listener as () => void)
  }
}

function inFolder(path: string): () => void {
  const before = process.cwd()
  process.chdir(path)
  return () => process.chdir(before)
}

/** Runs the command line in a process of its own to its end. */
export async function waybridgeProcess(
  args: readonly string[],
  { cwd, env = {}, reads = true, stdout }: Output = {},
): Promise<Ended> {
  const { WAYBRIDGE_ADMIN_URL: _url, WAYBRIDGE_ADMIN_TOKEN: _token, ...own } = process.env
  const stdio: StdioOptions = ['ignore', stdout ?? 'pipe', 'pipe']
  const child = spawn(process.execPath, [CLI, ...args], { cwd, env: { ...own, TZ: 'UTC', ...env }, stdio })
  let [out, errors] = ['', '']
  if (!reads) child.stdout?.destroy()
  child.stdout?.setEncoding('utf8').on('data', (part: string) => (out += part))
  child.stderr?.setEncoding('utf8').on('data', (part: string) => (errors += part))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, errors }
}

/** Of a gateway where all is well. */
export const STATUS = {
  waiting: { fixes: 0, lanes: 0 },
  parked: { fixes: 0, lanes: 0 },
  held: { fixes: 0, devices: 0 },
  rates: { received_per_s: 12.3, delivered_per_s: 12 },
  upstream: { state: 'up', since_at: '2026-11-19T06:00:12.000Z', token_refused: [], in_flight: 0, slowest_ms: 0 },
  apis: [{ api: 'api.example', state: 'up', since_at: '2026-11-19T06:00:12.000Z', companies: ['7'] }],
  verdict: 'All well: 3 devices connected, 12 positions/s delivered.',
  plain_verdict: 'All well: 3 devices connected, 12 positions/s delivered.',
  links: [],
  processes: [],
  findings: [],
  custody: {
    received: 1200,
    filtered: 0,
    delivered: 1200,
    redelivered: 0,
    waiting: 0,
    parked: 0,
    held: 0,
    discarded: 0,
    difference: 0,
  },
  companies: [],
  vans: { moving: 0, standing: 0, parked: 0, silent: 0, gps_old: 0, no_route: 0, held: 0, never: 0 },
  time_zone: 'UTC',
} satisfies StatusJson

/** What was asked of a server, its query by name. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** What it answers: JSON, or text as it is. */
export interface Reply {
  readonly status?: number
  readonly json?: unknown
  readonly text?: string
  /** No answer: the connection is cut. */
  readonly cut?: boolean
}

export interface Server {
  readonly port: number
  readonly asked: Asked[]
  /** `--url` and `--token` of it. */
  readonly options: readonly string[]
}

/** An admin port in a time zone, that answers everything but its status as told. */
export function gatewayIn(time_zone: string, reply: (asked: Asked) => Reply): Promise<Server> {
  return answering((asked) => (asked.path === '/admin/status' ? { json: { ...STATUS, time_zone } } : reply(asked)))
}

/** A server that answers as told, until the test ends; who lacks the token is answered 401 as the admin port does. */
export async function answering(reply: (asked: Asked) => Reply): Promise<Server> {
  const asked: Asked[] = []
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const question = await readQuestion(request)
    asked.push(question)
    const known = question.headers.authorization === `Bearer ${TOKEN}`
    const { status = 200, json, text, cut }: Reply = known ? reply(question) : NOT_A_TOKEN
    if (cut) return void request.socket.destroy()
    response
      .writeHead(status, { 'content-type': 'application/json', ...(!known && { 'www-authenticate': 'Bearer' }) })
      .end(text ?? JSON.stringify(json))
  }

  const server = createServer((request, response) => void respond(request, response))
  const port = await listening(server)
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  })
  return { port, asked, options: ['--url', `http://127.0.0.1:${port}`, '--token', TOKEN] }
}

async function readQuestion(request: IncomingMessage): Promise<Asked> {
  const { method = '', url = '', headers } = request
  const [path, query = ''] = url.split('?')
  const body = Buffer.concat(await request.toArray()).toString()
  return { method, path, query: Object.fromEntries(new URLSearchParams(query)), headers, body }
}

const NOT_A_TOKEN: Reply = { status: 401, json: { message: 'not a token of this port' } }
