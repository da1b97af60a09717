import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Redis, type RedisOptions } from 'ioredis'
import type { Logger } from '../observe/log.ts'
import { metrics } from '../observe/metrics.ts'
import { observations } from '../observe/observations.ts'

export type { Redis }

/** The scripts of each file in lua/: its functions, or the one that has its name. Their keys and arguments are said there. */
const SCRIPTS = {
  store: ['append', 'move'],
  forget: ['forget'],
  held: ['held'],
  schedule: ['claim', 'renew', 'postpone', 'seize', 'make_due', 'beat'],
  take: ['take'],
  done: ['done'],
  retry: ['retry'],
  refusal: ['park', 'refuse'],
  survey: ['survey'],
  logs: ['events', 'audit'],
  misunderstood: ['keep_frames', 'drop_frames', 'rewrite_frame'],
  roster: ['roster'],
} as const

/** Scripts that fail while Redis' memory is full: what they bring was not acknowledged yet. All others make room. */
const REFUSED_WHEN_FULL: ReadonlySet<string> = new Set(['append', 'roster', 'events', 'keep_frames'])

export type Script = (typeof SCRIPTS)[keyof typeof SCRIPTS][number]
for (const script of Object.values(SCRIPTS).flat()) metrics.slowScripts.inc({ script }, 0)
type Value = string | number | Buffer

/** Of a connection: a server that reads its file at its start says how long that takes, which may be wrong by far. */
export const LOADING = { maxLoadingRetryTime: 500 }

/** A connection to `redis://`, `rediss://` or, on a socket of the file system, `unix:///path?username=…&password=…&db=…`. */
export function openRedis(url: string, options: RedisOptions): Redis {
  if (!url.startsWith('unix:')) return new Redis(url, options)
  const { username, password, db = '0' } = Object.fromEntries(new URL(url).searchParams)
  const path = fileURLToPath(url.replace('unix:', 'file:'))
  return new Redis({ path, username, password, db: Number(db), ...options })
}

/**
 * A connection whose commands fail at once while there is no Redis, and are never sent twice: the caller treats a
 * broken connection as "not done", and every script is harmless when it ran all the same.
 */
export function connect(url: string, name: string, logger?: Logger): Redis {
  const redis = openRedis(url, {
    connectionName: `waybridge-${name}`,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 10_000,
    socketTimeout: 15_000,
    retryStrategy: (attempt) => Math.min(attempt * 50, 1000),
    ...LOADING,
  })
  let isGone = false
  // Under `start` the finding redis_down says it once for all processes.
  const report = (text: string) => logger?.[process.connected ? 'debug' : 'warn']({ reason: 'redis' }, text)
  redis.on('error', (error) => logger?.debug({ err: error }, 'Redis'))
  redis.on('close', () => {
    if (!isGone && redis.status !== 'end') report('Redis is gone: nothing is stored until it is back')
    isGone = true
  })
  redis.on('ready', () => {
    if (isGone) report('Redis is back')
    isGone = false
    void learnVersion(redis).catch(() => {})
  })
  for (const [file, names] of Object.entries(SCRIPTS))
    for (const script of names) {
      const lua = source('lease') + source('marks') + source(file) + (script === file ? '' : `return ${script}()`)
      redis.defineCommand(PREFIX + script, { lua })
      redis.defineCommand(PREFIX + script + WHEN_FULL, { lua: `#!lua flags=allow-oom\n${lua}` })
    }
  return redis
}

/** Whether a command failed because the connection was gone, which may be there again by now. */
export function isConnectionError({ message }: Error): boolean {
  return GONE.test(message)
}

const GONE =
  /^(?:Command timed out|Stream isn't writeable|Connection is closed|Reached the max retries|(?:read|write|connect) E)/

/** Runs a script of a connection made by `connect`: its keys, then its arguments. Strings in the answer are buffers. */
export type RunScript = (script: Script, keys: readonly string[], args: readonly Value[]) => Promise<unknown>

/** The scripts of a connection made by `connect`. */
export function scripts(redis: Redis): RunScript {
  const commands = redis as unknown as Record<string, (...args: (Value | readonly Value[])[]) => Promise<unknown>>
  return (script, names, args) => {
    const always = !REFUSED_WHEN_FULL.has(script) && (majorVersions.get(redis) ?? 0) >= 7
    const askedAt = performance.now()
    // An array, which ioredis takes apart: a call has no room for 100,000 arguments.
    const answer = commands[`${PREFIX}${script}${always ? WHEN_FULL : ''}Buffer`](names.length, ...names, args)
    const ended = () => noteDuration(script, performance.now() - askedAt)
    answer.then(ended, ended)
    return answer
  }
}

function noteDuration(script: Script, ms: number): void {
  if (ms < SLOW_MS) return
  metrics.slowScripts.inc({ script })
  observations.note('slow_script', { evidence: `${script}: ${Math.round(ms)} ms` })
}

const SLOW_MS = 250

/**
 * Group commit: what arrives while the previous call is away leaves together in the next one. No timer. `send` answers with
 * one result for each item, in order; if it fails, every item fails. `inFlight`: calls away at once; `maxWeight`: where a
 * group ends (one item may be heavier).
 */
export function grouped<Item, Result>(
  send: (items: Item[]) => Promise<Result[]>,
  { inFlight = 1, maxWeight = 1000 } = {},
): (item: Item, weight?: number) => Promise<Result> {
  const waiting: ({ item: Item; weight: number } & PromiseWithResolvers<Result>)[] = []
  let away = 0

  async function sendNext(): Promise<void> {
    if (away >= inFlight || waiting.length === 0) return
    let size = 1
    for (let sum = waiting[0].weight; size < waiting.length; size++)
      if ((sum += waiting[size].weight) > maxWeight) break
    const group = waiting.splice(0, size)
    away++
    const sending = send(group.map(({ item }) => item))
    void sendNext()
    try {
      const results = await sending
      group.forEach(({ resolve }, index) => resolve(results[index]))
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
    away--
    void sendNext()
  }

  return (item, weight = 1) => {
    const result = Promise.withResolvers<Result>()
    waiting.push({ item, weight, ...result })
    if (waiting.length === 1 && away < inFlight) setImmediate(() => void sendNext())
    return result.promise
  }
}

/** Of the commands that run scripts: Redis has an APPEND of its own. */
const PREFIX = 'wb_'
/** Of a script that may write though Redis' memory is full; Redis 7 lets it. */
const WHEN_FULL = 'WhenFull'

function source(name: string): string {
  return readFileSync(new URL(`lua/${name}.lua`, import.meta.url), 'utf8')
}

/** Of the servers, as they said at the last connect. */
const majorVersions = new WeakMap<Redis, number>()

async function learnVersion(redis: Redis): Promise<void> {
  const [, version] = /redis_version:(\d+)/.exec(await redis.info('server')) ?? []
  majorVersions.set(redis, Number(version ?? 0))
}

/**
 * Why what is acknowledged would not be safe in this Redis: a sentence for each setting that is not as it must be, or cannot be
 * read. Rejects where Redis does not answer.
 */
export async function durabilityProblems(redis: Redis): Promise<string[]> {
  try {
    const found = await Promise.all(NEEDED.map(([name]) => redis.config('GET', name)))
    return NEEDED.flatMap(([name, value], index) => {
      const [, actual] = found[index]
      if (actual === value) return []
      return [`Redis has ${name} ${actual}, needed is ${name} ${value}: what is acknowledged could be lost`]
    })
  } catch (error) {
    // Managed servers know no CONFIG, or forbid it; any other error will pass.
    if (!/^(?:ERR|NOPERM)\b/.test((error as Error).message)) throw error
    return [
      'Redis does not let its settings be read (CONFIG GET), so it cannot be verified that it keeps what is acknowledged: ' +
        `if it has ${NEEDED.map((needed) => needed.join(' ')).join(', ')}, set redis.durability: relaxed`,
    ]
  }
}

const NEEDED = [
  ['appendonly', 'yes'],
  ['appendfsync', 'always'],
  ['no-appendfsync-on-rewrite', 'no'],
  ['maxmemory-policy', 'noeviction'],
] as const
