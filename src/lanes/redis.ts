import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import type { Logger } from '../observe/log.ts'

export type { Redis }

/** Each script by name; what it takes and answers stands at the head of its file. */
const SCRIPTS = {
  append: 3,
  claim: 1,
  renew: 1,
  take: 3,
  done: 5,
  retry: 2,
  park: 3,
  refuse: 6,
  release: 5,
  count: 4,
  refused: 1,
} as const

type Script = keyof typeof SCRIPTS
type Value = string | number | Buffer

/** Runs a script: its keys, then its arguments. Strings in the answer are buffers. */
export type Run = (script: Script, keys: Value[], args: Value[]) => Promise<unknown>

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
    retryStrategy: (attempt) => Math.min(attempt * 50, 1000),
  })
  redis.on('error', (error) => logger?.debug({ err: error }, 'Redis'))
  for (const [script, numberOfKeys] of Object.entries(SCRIPTS))
    redis.defineCommand(script, { numberOfKeys, lua: readFileSync(new URL(`${script}.lua`, import.meta.url), 'utf8') })
  return redis
}

/** The scripts of a connection made by `connect`. */
export function scripts(redis: Redis): Run {
  const commands = redis as unknown as Record<string, (...args: Value[]) => Promise<unknown>>
  return (script, keys, args) => commands[`${script}Buffer`](...keys, ...args)
}
