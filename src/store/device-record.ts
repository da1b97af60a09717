import { randomUUID } from 'node:crypto'
import type { Fix, Transport } from '../../protocols/kit/index.ts'
import { type SaidParts, saidFrom } from './said.ts'
import type { Shard, Store } from './shards.ts'

/*
 * What Redis has of a device beside its fixes, in its shard: a record in the hash `devices`, and the list of its last events.
 * `lua/devices.lua` writes both, and adds the device to the stream of changes that readers of many devices follow.
 */

/** When and how a device was last heard. Instants in ms UTC. */
export interface Contact {
  at: number
  /** Absent for a device that has only logged in over MQTT. */
  protocol?: string
  transport: Transport
  remote: string
  /** The port that it came to; absent over MQTT. */
  port?: number
  /** When its open connection began; absent without a connection. */
  connectedAt?: number
  /** Whether it came through a relay, which alone has a connection. */
  isRelayed?: boolean
}

/** A contact, and the id of the gateway process that heard the device. */
export interface StoredContact extends Contact {
  readonly gateway: string
}

/** What was heard of a device beside its contact. */
export interface LastFixes {
  /** The last stored fix, in UTC; fixes ahead of our clock do not count, since their time is unknown. */
  readonly fix?: { readonly at: number; readonly fix: Fix }
  /** The last fix that did not go to a lane, and why. `held`: it is stored, and may have gone to a lane since. */
  readonly filtered?: { readonly at: number; readonly reason: string; readonly fix: Fix; readonly held?: true }
}

/** Returns the last fix that shows the device's clock, including one that was filtered as too old. */
export function latestTimed({ fix, filtered }: LastFixes): { readonly at: number; readonly fix: Fix } | undefined {
  return filtered?.reason === 'past' && filtered.at > (fix?.at ?? 0) ? filtered : fix
}

export interface DeviceRecord extends Readonly<StoredContact>, LastFixes {
  /** The last values that it sent beside its positions. */
  readonly said?: SaidParts
  /** The usual time between two messages of a device that sends seldom, as learnt by the admin process. */
  readonly usualMs?: number
  /** How long it usually sleeps while its ignition is off; written with `usualMs`. */
  readonly sleepMs?: number
}

/** An event of a device; `at` in ms UTC. */
export type DeviceEvent = { readonly at: number } & Happening

export type Happening =
  /** At the login over MQTT, else at the first message. Over MQTT each message has its own protocol. */
  | { readonly event: 'connected'; readonly protocol?: string; readonly transport: string; readonly remote: string }
  /** `reason`: why the gateway ended the connection; absent if the device or the network ended it. */
  | { readonly event: 'disconnected'; readonly remote: string; readonly reason?: string }
  | { readonly event: 'routed'; readonly lane: string }
  | { readonly event: Exclude<Treatment, 'routed'>; readonly reason: string }

/** What happened to a message: its fixes went to a lane, were held or filtered, or it was refused as a whole. */
export type Treatment = 'routed' | 'held' | 'filtered' | 'misunderstood' | 'refused'

/**
 * Returns whether a device stays connected: UDP has no connection, one of HTTP lasts for a request, and that of a relay is
 * not the device's own.
 */
export function isConnected({ transport, isRelayed }: Pick<Contact, 'transport' | 'isRelayed'>): boolean {
  return !isRelayed && (transport === 'tcp' || transport === 'mqtt')
}

/** News of a device. `events`: each as JSON that begins with `at`, oldest first. */
export interface DeviceNews extends LastFixes, Pick<DeviceRecord, 'said' | 'usualMs' | 'sleepMs'> {
  readonly device: string
  readonly contact?: StoredContact
  readonly events?: readonly string[]
}

/**
 * Writes news of at most 500 devices of a shard. If two gateways write, the later value counts; an event that repeats the
 * latest change is dropped. Rejects if Redis is gone or its memory is full.
 */
export async function writeRecords(shard: Shard, news: readonly DeviceNews[]): Promise<void> {
  const { devices, eventsPrefix, heardChanges } = shard.keyNames
  const names = news.map(({ device }) => device)
  const parts = news.flatMap((each) => [linesOf(each), each.events?.length ?? 0, ...(each.events ?? [])])
  const args = [CHANGES_KEPT, EVENTS_KEPT, EVENTS_KEPT_FOR_S, JSON.stringify(names), names.length, ...names, ...parts]
  await shard.run('note_devices', [devices, eventsPrefix, heardChanges], args)
}

/** Returns the news as lines of a record (see lua/devices.lua), each beginning with its time. */
function linesOf({ contact, fix, filtered, said, usualMs, sleepMs }: DeviceNews): string {
  const lines = [
    contact ? timedJson(contact).slice(0, -1) : '',
    fix ? `,"fix":${timedJson(fix)}` : '',
    filtered ? `,"filtered":${timedJson(filtered)}` : '',
    ...(said ? [`,"said":${JSON.stringify(said)}`] : []),
    usualMs === undefined ? '}' : `,${JSON.stringify({ usualMs, sleepMs }).slice(1)}`,
  ]
  return lines.join('\n')
}

/** The JSON of a part of a record, with its time first. */
function timedJson({ at, ...part }: { readonly at: number }): string {
  return JSON.stringify({ at, ...part })
}

/** The records of devices of a shard, in the order of the devices; undefined if a device was never heard. */
export async function readRecords(shard: Shard, devices: readonly string[]): Promise<(DeviceRecord | undefined)[]> {
  const records = await shard.hmget(shard.keyNames.devices, ...devices)
  return records.map((record) => (record === null ? undefined : (JSON.parse(record) as DeviceRecord)))
}

/**
 * Returns the part of a record that belongs to the company of the device, or to nobody. `companySince`: earlier parts are
 * hidden, ms UTC.
 */
export function recordOf(
  entry: { readonly companySince?: number } | undefined,
  record: DeviceRecord,
): DeviceRecord | undefined {
  const since = entry?.companySince
  if (since === undefined) return record
  const own = <Part extends { readonly at: number }>(part: Part | undefined) =>
    part && part.at >= since ? part : undefined
  const said = record.said && saidFrom(record.said, since)
  return own({ ...record, fix: own(record.fix), filtered: own(record.filtered), said })
}

/** The devices of a shard that have a record, in slices. */
export async function* recordedDevices(shard: Shard): AsyncGenerator<string[]> {
  for await (const slice of shard.hscanStream(shard.keyNames.devices, { count: SLICE }))
    yield (slice as string[]).filter((_, index) => index % 2 === 0)
}

/** Resolves to the last events of a device, at most 20, latest first by the clocks of the gateways. */
export async function readEvents(redis: Store, device: string): Promise<DeviceEvent[]> {
  const shard = redis.shardOf(device)
  const events = await shard.lrange(shard.keyNames.eventsPrefix + device, 0, -1)
  return events
    .map((event) => JSON.parse(event) as DeviceEvent)
    .toReversed()
    .toSorted((a, b) => b.at - a.at)
}

/** Deletes the record and the events of a device in one step. Returns how many there were: 0 to 2. */
export async function forgetRecord(redis: Store, device: string): Promise<number> {
  const shard = redis.shardOf(device)
  const { devices, eventsPrefix, heardChanges } = shard.keyNames
  const args = [CHANGES_KEPT, device, JSON.stringify([device])]
  return (await shard.run('forget_record', [devices, eventsPrefix + device, heardChanges], args)) as number
}

/**
 * A position in the changes of a shard. `mark`: identifies the data that the reader has read; if it differs, these are other
 * data.
 */
export interface ReadTo {
  readonly mark: string
  readonly last: string
}

/**
 * Resolves to the devices of a shard with news since the reader's last look, and to the reader's new position. Undefined: the
 * reader has to read everything, because it never did, some changes are dropped already, or Redis was emptied or restored in
 * between.
 */
export async function heardSince(shard: Shard, since: ReadTo | undefined) {
  const { heardChanges, heardMark } = shard.keyNames
  const mark = await shard.get(heardMark)
  if (mark === null || mark !== since?.mark) return undefined
  const entries = await shard.xrange(heardChanges, since.last, '+', 'COUNT', CHANGES_KEPT)
  // The oldest entries are dropped first: if the last entry that was read exists, all later ones do.
  if (since.last !== NONE && entries[0]?.[0] !== since.last) return undefined
  const later = entries.filter(([id]) => id !== since.last)
  const devices = later.flatMap(([, [, names]]) => JSON.parse(names) as string[])
  return { devices, readTo: { mark, last: later.at(-1)?.[0] ?? since.last } }
}

/** Where a reader stands that reads everything from now on. */
export async function beginReading(shard: Shard): Promise<ReadTo> {
  const { heardChanges, heardMark } = shard.keyNames
  await shard.set(heardMark, randomUUID(), 'NX')
  const [mark, [latest]] = await Promise.all([
    shard.get(heardMark),
    shard.xrevrange(heardChanges, '+', '-', 'COUNT', 1),
  ])
  return { mark: mark ?? '', last: latest?.[0] ?? NONE }
}

/** How many events of a device are kept. */
export const EVENTS_KEPT = 20
/** After the last event of a device: 31 days. */
const EVENTS_KEPT_FOR_S = 31 * 86_400
/** Entries of up to 500 devices each. */
const CHANGES_KEPT = 300
/** Stands before all entries. */
const NONE = '0-0'
const SLICE = 500
