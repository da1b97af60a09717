import { readFileSync } from 'node:fs'
import { sameId } from '../domain/ids.ts'
import type { Logger } from '../observe/log.ts'
import { metrics } from '../observe/metrics.ts'
import { observations } from '../observe/observations.ts'
import {
  type AddressOf,
  addressesOf,
  Connection,
  type ConnectionOptions,
  type RedisServer,
} from '../redis/connection.ts'
import { type ShardKeys, shardKeys, tagOf } from './keys.ts'

/**
 * The scripts of each file in lua/: its functions, or the one with the file's name. The file documents their keys and
 * arguments.
 */
const SCRIPTS = {
  store: ['append', 'move'],
  forget: ['forget'],
  held: ['claim_held', 'look_again', 'mark_releasing', 'end_release'],
  schedule: ['claim', 'recall', 'renew', 'postpone', 'seize', 'try_parked'],
  beat: ['beat'],
  take: ['take'],
  done: ['done'],
  trim_kept: ['trim_kept'],
  requeue: ['requeue'],
  retry: ['retry'],
  refusal: ['park', 'refuse'],
  lanes: ['count_lanes', 'lanes_with', 'survey'],
  devices: ['note_devices', 'forget_record'],
  lane_days: ['lane_days'],
  air: ['air'],
  audit: ['audit'],
  reads: ['reads'],
  verified: ['verified'],
  misunderstood: ['keep_frames', 'drop_frames', 'rewrite_frame', 'end_claim'],
  roster: ['roster'],
  offers: ['offers'],
  sign: ['sign'],
  copies: [
    'enter_copies',
    'survey_copies',
    'read_log',
    'read_copied',
    'advance_copy',
    'leave_copy',
    'end_copy',
    'trim_log',
    'hold_copy',
    'release_copy',
    'replace_copied',
    'settle_parked',
    'retry_copy',
    'end_retry',
    'discard_parked',
  ],
} as const

/** Scripts that fail while Redis' memory is full: their data are not acknowledged yet. All other scripts make room. */
const REFUSED_WHEN_FULL: ReadonlySet<string> = new Set([
  'append',
  'roster',
  'note_devices',
  'lane_days',
  'air',
  'keep_frames',
  'requeue',
])
/** Scripts that need no replica: they only read, or what they write may be lost. */
const READING: ReadonlySet<string> = new Set([
  'survey',
  'renew',
  'beat',
  'note_devices',
  'lane_days',
  'air',
  'audit',
  'reads',
  'sign',
  'survey_copies',
  'read_log',
  'read_copied',
  'hold_copy',
  'release_copy',
])

export type Script = (typeof SCRIPTS)[keyof typeof SCRIPTS][number]
for (const script of Object.values(SCRIPTS).flat()) metrics.slowScripts.inc({ script }, 0)
type Value = string | number | Buffer

/**
 * A part of the devices, with its own keys and connection; in a Redis Cluster its keys may be on another master. All fixes of
 * a device are in its shard: in lanes, held and refused, with their duplicate marks. A lane is in every shard that has a
 * device of it: each part has its own order, and is leased and pushed separately.
 */
export class Shard extends Connection {
  /** 0 is home, which has everything else as well. */
  readonly number: number
  readonly keyNames: ShardKeys
  /** From when to when all calls were slow, those that were asked soon after one another. */
  #slow: { readonly since: number; readonly until: number } | undefined

  constructor(addressOf: AddressOf, number: number, options: ConnectionOptions) {
    super(addressOf(tagOf(number)), options)
    this.number = number
    this.keyNames = shardKeys(tagOf(number))
    for (const [file, names] of Object.entries(SCRIPTS))
      for (const script of names) {
        const lua = source('lease') + source(file) + (script === file ? '' : `return ${script}()`)
        this.defineCommand(PREFIX + script, { lua })
        this.defineCommand(PREFIX + script + WHEN_FULL, { lua: `#!lua flags=allow-oom\n${lua}` })
      }
  }

  /**
   * Runs a script with its keys and arguments. Strings in the answer are buffers. If Redis has replicas, resolves once these
   * have what was written.
   */
  run(script: Script, names: readonly string[], args: readonly Value[]): Promise<unknown> {
    const call = () => this.#call(script, names, args)
    return READING.has(script) ? call() : this.confirmed(call)
  }

  #call(script: Script, names: readonly string[], args: readonly Value[]): Promise<unknown> {
    const suffix = this.majorVersion >= 7 && !REFUSED_WHEN_FULL.has(script) ? WHEN_FULL : ''
    const commands = this as unknown as Record<string, (...args: (Value | readonly Value[])[]) => Promise<unknown>>
    const askedAt = performance.now()
    // An array, which ioredis flattens: a JavaScript call cannot have 100,000 arguments.
    const answer = commands[`${PREFIX}${script}${suffix}Buffer`](names.length, ...names, args)
    const ended = () => this.#noteTime(script, askedAt)
    answer.then(ended, ended)
    return answer
  }

  /**
   * Counts a slow call. It becomes a finding once no call of the connection was quick for five seconds, because on a busy
   * machine single calls are slow at times. The time includes Redis' fsync, which is in none of Redis' own figures of a
   * script.
   */
  #noteTime(script: Script, askedAt: number): void {
    const now = performance.now()
    if (now - askedAt < SLOW_MS) return void (this.#slow = undefined)
    metrics.slowScripts.inc({ script })
    const since = this.#slow && askedAt - this.#slow.until < LASTING_MS ? this.#slow.since : askedAt
    this.#slow = { since, until: now }
    if (now - since < LASTING_MS) return
    observations.note('slow_script', { evidence: `${script}: ${Math.round(now - askedAt)} ms` })
  }
}

/** The stored data: the home shard, and through it all shards. They end with it. */
export class Store extends Shard {
  /** All shards, home first. */
  readonly shards: readonly Shard[]
  readonly #unusable = Promise.withResolvers<string>()
  /** Resolves, once it turns out that this process cannot work on the stored data, with a sentence for the user: it must end then. */
  readonly unusable = this.#unusable.promise

  constructor(server: RedisServer, name: string, logger?: Logger) {
    const addressOf = addressesOf(server)
    const { replicas = 0, shards = 1 } = typeof server === 'string' ? {} : server
    const options = { name, replicas, logger }
    super(addressOf, 0, options)
    const others = Array.from({ length: shards - 1 }, (_, index) => new Shard(addressOf, index + 1, options))
    this.shards = [this, ...others]
    this.on('end', () => others.forEach((shard) => shard.disconnect()))
  }

  /** Returns the shard of a device. Ids of digits mean the same device with and without leading zeros. */
  shardOf(device: string): Shard {
    if (this.shards.length === 1) return this
    return this.shards[hashOf(sameId(device)) % this.shards.length]
  }

  /** Asks all shards, home first. Resolves to their answers in this order. */
  inShards<Answer>(ask: (shard: Shard) => Promise<Answer>): Promise<Answer[]> {
    return Promise.all(this.shards.map(ask))
  }

  /** Reports why this process cannot work on the stored data: a sentence for the user. */
  refuse(message: string): void {
    this.#unusable.resolve(message)
  }
}

/** FNV-1a. Part of the data format: with another hash, stored data would not be found. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

/** A file of lua/, with the files that it includes. */
function source(name: string): string {
  const lua = readFileSync(new URL(`lua/${name}.lua`, import.meta.url), 'utf8')
  return lua.replaceAll(/^-- include (\w+)$/gm, (_, included: string) => source(included))
}

const SLOW_MS = 250
const LASTING_MS = 5000
/** The prefix of the commands that run scripts, because Redis has its own APPEND. */
const PREFIX = 'wb_'
/** The suffix of a script that may write even if Redis' memory is full; Redis 7 allows that. */
const WHEN_FULL = 'WhenFull'
