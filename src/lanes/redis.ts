import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import type { Logger } from '../observe/log.ts'

export type { Redis }

/** Each script by name, with its number of keys; what it takes and answers stands at the head of its file. */
const SCRIPTS = {
  append: 6,
  move: 10,
  claim: 2,
  renew: 1,
  take: 5,
  done: 8,
  retry: 4,
  park: 5,
  refuse: 9,
  due: 1,
  seize: 1,
  beat: 1,
  count: 5,
  refused: 1,
  recall: 4,
  roster: 2,
  audit: 1,
  events: 1,
} as const

/** Those that store records: store.lua stands in front of them. */
const STORING: ReadonlySet<string> = new Set(['append', 'move'])

/** Those that wait while Redis' memory is full: nobody was told yet that what they bring is here. */
const MAKING_NO_ROOM: ReadonlySet<string> = new Set(['append', 'roster', 'events'])

type Script = keyof typeof SCRIPTS
type Value = string | number | Buffer

/** Runs a script: its keys, then its arguments. Strings in the answer are buffers. */
export type Run = (script: Script, keys: readonly Value[], args: readonly Value[]) => Promise<unknown>

/** Of a connection: a server that reads its file at its start says how long that takes, which may be wrong by far. */
export const LOADING = { maxLoadingRetryTime: 500 }

/**
 * A connection whose commands fail at once while there is no Redis, and are never sent twice: the caller treats a
 * broken connection as "not done", and every script is harmless when it ran all the same.
 */
export function connect(url: string, name: string, logger?: Logger): Redis {
  const redis = new Redis(url, {
    connectionName: `waybridge-${name}`,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 10_000,
    socketTimeout: 15_000,
    retryStrategy: (attempt) => Math.min(attempt * 50, 1000),
    ...LOADING,
  })
  redis.on('ready', () => void learnVersion(redis).catch(() => {}))
  redis.on('error', (error) => logger?.debug({ err: error }, 'Redis'))
  reportAbsence(redis, logger)
  for (const [script, numberOfKeys] of Object.entries(SCRIPTS)) {
    const lua = source('common') + (STORING.has(script) ? source('store') : '') + source(script)
    redis.defineCommand(script, { numberOfKeys, lua })
    redis.defineCommand(script + WHEN_FULL, { numberOfKeys, lua: `#!lua flags=allow-oom\n${lua}` })
  }
  return redis
}

/**
 * The scripts of a connection made by `connect`. Only what was not acknowledged yet has to wait while Redis' memory is full;
 * all else goes on: it is what makes room.
 */
export function scripts(redis: Redis): Run {
  const commands = redis as unknown as Record<string, (...args: (Value | readonly Value[])[]) => Promise<unknown>>
  return (script, names, args) => {
    const variant = MAKING_NO_ROOM.has(script) || (majorVersions.get(redis) ?? 0) < 7 ? script : script + WHEN_FULL
    // An array, which ioredis takes apart: a call has no room for 100,000 arguments.
    return commands[`${variant}Buffer`](...names, args)
  }
}

/** Of a script that may write though Redis' memory is full, as Redis 7 lets it. */
const WHEN_FULL = 'WhenFull'

function source(name: string): string {
  return readFileSync(new URL(`lua/${name}.lua`, import.meta.url), 'utf8')
}

/** Says when Redis goes and when it is back: every device waits for it. */
function reportAbsence(redis: Redis, logger?: Logger): void {
  let gone = false
  redis.on('close', () => {
    if (!gone && redis.status !== 'end')
      logger?.warn({ reason: 'redis' }, 'Redis is gone: nothing is stored until it is back')
    gone = true
  })
  redis.on('ready', () => {
    if (gone) logger?.info('Redis is back')
    gone = false
  })
}

/** Of the servers, as they said at the last connect. */
const majorVersions = new WeakMap<Redis, number>()

async function learnVersion(redis: Redis): Promise<void> {
  const [, version] = /redis_version:(\d+)/.exec(await redis.info('server')) ?? []
  majorVersions.set(redis, Number(version ?? 0))
}
