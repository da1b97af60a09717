import { type Device, sameId } from '../config/directory.ts'
import { type DeviceEdit, type Edits, editSource, type FileWrites, NO_EDITS, type RouteEdit } from '../config/edits.ts'
import type { Obsolete } from '../config/puts.ts'
import {
  readRoster,
  readRosterRoutes,
  type Redis,
  rosterWrittenAt,
  type StoredRoster,
  type Written,
  writeRoster,
} from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'

/** What was written to devices and routes through the admin port, the same for everybody around a Redis. */
export interface Roster {
  /** As it was read last; undefined until it was for the first time. Another object whenever it has changed. */
  readonly edits: Edits | undefined
  /** As it was read first. */
  readonly first: Promise<Edits>
  /** Reads it now. Rejects where Redis does not answer. */
  refresh(): Promise<Edits>
  /** Calls `apply`, which brings them into effect, whenever `edits` is another object than before. */
  follow(apply: () => Promise<void>): void
  /** Whether what is in effect is as of a moment ago: not while Redis is away, nor until it has been read after that. */
  readonly fresh: boolean
  /** Puts a device, or, null, deletes it. @returns the time of the write, as in `Edits` */
  putDevice(id: string, device: Device | null): Promise<number>
  /**
   * Puts lines in place of others; what is `obsolete` of earlier puts goes, unless there was a write that it does not know
   * of: the next put sees to it then. @returns the time of the write, as in `Edits`
   */
  putRoutes(edit: Omit<RouteEdit, 'at'>, obsolete?: Obsolete): Promise<number>
  /** Notes what was written to files, where that is after some edit; `edits` has it then. */
  noteFiles(writes: FileWrites): Promise<void>
  /** Reads it no more. */
  close(): void
}

/** Reads the roster, and looks twenty times a second whether it has been written. */
export function followRoster(redis: Redis, logger: Logger): Roster {
  let edits: Edits | undefined
  let routes: ReadonlyMap<string, RouteEdit> = new Map()
  let forgettable: readonly string[] = []
  let reading: Promise<Edits> | undefined
  const followers = new Set<() => Promise<void>>()
  let applying: Promise<unknown> = Promise.resolve()
  let seenAt = -Infinity
  let lostAt = -Infinity
  const faults = new Set<string>()
  let closed = false

  /** Who asks while it is being read gets the result of the next reading: that one sees all that was before the question. */
  async function refresh(): Promise<Edits> {
    if (reading) await reading.catch(() => {})
    reading ??= read().finally(() => (reading = undefined))
    return reading
  }

  async function read(): Promise<Edits> {
    if (edits && (await rosterWrittenAt(redis)) === edits.at) return edits
    const stored = await readRoster(redis)
    const known = await knownRoutes(stored.routes)
    if (!known) return read()
    routes = known
    forgettable = forgettableMarks(stored)
    const before = edits?.devices
    const deviceEdits = Array.from(
      stored.devices,
      ([id, written]) => [id, deviceEdit(written, before?.get(id))] as const,
    )
    return take({
      at: stored.at,
      devices: new Map(deviceEdits),
      files: new Map(Array.from(stored.files, ([key, { at }]) => [key, at])),
      routes: [...known.values()].toSorted((a, b) => a.at - b.at),
    })
  }

  function take(next: Edits): Edits {
    if (edits && next.at < edits.at) reportAge(next.at, edits.at, logger)
    edits = next.at === 0 ? NO_EDITS : next
    applying = Promise.all(Array.from(followers, (apply) => apply()))
    return edits
  }

  async function knownRoutes(fields: readonly string[]): Promise<ReadonlyMap<string, RouteEdit> | undefined> {
    const unknown = fields.filter((field) => !routes.has(field))
    const puts = await readRosterRoutes(redis, unknown)
    const added = new Map(puts?.map(({ text }, index) => [unknown[index], routeEdit(unknown[index], text)]))
    return puts && new Map(fields.map((field) => [field, (routes.get(field) ?? added.get(field)) as RouteEdit]))
  }

  async function look(): Promise<void> {
    const began = performance.now()
    try {
      first.resolve(await refresh())
      faults.clear()
      await applying
      seenAt = began
    } catch (error) {
      report(error as Error)
    }
    if (!closed) timer = setTimeout(() => void look(), edits ? LOOK_MS : FIRST_LOOK_MS).unref()
  }

  /** That Redis is away is the connection's to report. */
  function report(error: Error): void {
    const isDamage = error instanceof SyntaxError
    if ((!isDamage && redis.status !== 'ready') || faults.has(error.message)) return
    faults.add(error.message)
    const what = isDamage ? 'what Redis has of the roster is damaged' : 'the roster in Redis cannot be read'
    logger.error({ err: error }, `${what}: what was read before stays`)
  }

  const lose = () => void (lostAt = performance.now())
  redis.on('close', lose)
  const first = Promise.withResolvers<Edits>()
  let timer: NodeJS.Timeout | undefined
  void look()
  return {
    get edits() {
      return edits
    },
    first: first.promise,
    refresh,
    follow: (apply) => void followers.add(apply),
    get fresh() {
      return seenAt > lostAt && performance.now() - seenAt < STALE_MS
    },
    putDevice: (id, device) =>
      writeRoster(redis, 'devices', {
        set: [[sameId(id), JSON.stringify(device && { ...device, source: undefined })]],
      }),
    putRoutes(edit, { asOf, puts = [] }: Partial<Obsolete> = {}) {
      const left = puts.flatMap(({ after }) => (after ? [[putField(after), JSON.stringify(after)] as const] : []))
      const set = [[putField({ ...edit, at: '' }), JSON.stringify(edit)] as const, ...left]
      return writeRoster(redis, 'routes', { set, drop: puts.map(({ before }) => putField(before)), asOf })
    },
    async noteFiles({ written, gone }) {
      if ((await refresh()).at === 0) return
      const set = [...written.map((key) => [key, ''] as const), ...gone.map((key) => [key, 'gone'] as const)]
      const drop = forgettable
      for (let at = 0; at < Math.max(set.length, drop.length); at += AT_ONCE)
        await writeRoster(redis, 'files', { set: set.slice(at, at + AT_ONCE), drop: drop.slice(at, at + AT_ONCE) })
      await refresh()
    },
    close() {
      closed = true
      clearTimeout(timer)
      redis.off('close', lose)
    },
  }
}

/** After a restore from a backup, a failover to a copy that had not all of it, or FLUSHALL. */
function reportAge(at: number, before: number, logger: Logger): void {
  const last = at === 0 ? 'empty' : `of ${new Date(at).toISOString()}`
  logger.error(
    `the roster in Redis is older than what was in effect: it is ${last}, and not of ${new Date(before).toISOString()} any more; what was put through the admin port since then is to be put again`,
  )
}

/**
 * What of files is gone so long that no machine still has it, or is the oldest of too much: a program that writes a file
 * each minute leaves every line of it behind, and every process reads all of this with each change of the roster.
 */
function forgettableMarks({ at, files }: StoredRoster): string[] {
  const gone = Array.from(files, ([key, { text }]) => ({ key, since: text && Number(text.slice('gone '.length)) }))
    .filter((mark): mark is { key: string; since: number } => mark.since !== '')
    .toSorted((a, b) => b.since - a.since)
  return gone.filter(({ since }, rank) => rank >= MOST_GONE || since < at - GONE_MS).map(({ key }) => key)
}

/** No two writes are at the same time: one that is known need not be read again. */
function deviceEdit({ at, text }: Written, before: DeviceEdit | undefined): DeviceEdit {
  if (before?.at === at) return before
  const device = JSON.parse(text) as Omit<Device, 'source'> | null
  return { at, device: device && { ...device, source: editSource(at) } }
}

/** Where a put stands. One that has lost lines is another one, which is to be read. */
function putField({ at, rows }: { readonly at: number | ''; readonly rows: readonly unknown[] }): string {
  return `${at} ${rows.length}`
}

/** Its time is that of its field: a value has the time of the last loss of lines. */
function routeEdit(field: string, text: string): RouteEdit {
  return { ...(JSON.parse(text) as Omit<RouteEdit, 'at'>), at: Number.parseInt(field) }
}

const LOOK_MS = 50
/** A process that was stopped for so long must not go by what it knew before. */
const STALE_MS = 5000
// The connection may not be open yet.
const FIRST_LOOK_MS = 20
/** Each write has everybody read the roster anew, and while it lasts Redis does nothing else. */
const AT_ONCE = 50_000
const GONE_MS = 7 * 86_400_000
const MOST_GONE = 50_000
