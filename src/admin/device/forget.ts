import * as z from 'zod'
import { sameId } from '../../domain/ids.ts'
import { localDay } from '../../domain/times.ts'
import type { Logger } from '../../observe/log.ts'
import { forgetAir, forgetDays, forgetDevice, type Store } from '../../store/index.ts'
import type { Operation } from '../operation.ts'
import type { RosterInEffect } from '../roster/writes.ts'
import { Count, each } from '../schemas/parts.ts'
import type { DeviceSources } from './list.ts'

interface ForgetSources extends Pick<DeviceSources, 'redis' | 'directory'> {
  readonly live: Pick<RosterInEffect, 'config'>
  readonly logger: Logger
  readonly files: FileRewrite
}

/**
 * `DELETE /admin/devices/{id}/data`: deletes the undelivered fixes of a device, its duplicate marks, when it was last heard,
 * its frames that were not understood, and its kept delivered fixes. Its entry and its assignments stay.
 */
export function forgetOperation({ redis, directory, files, live, logger }: ForgetSources): Operation {
  return {
    method: 'DELETE',
    path: '/admin/devices/{id}/data',
    id: 'forgetDevice',
    summary:
      'Delete what is stored of a device: its fixes, also those that are delivered and kept, or wait for copies, marks of duplicates, contacts, events, frames',
    answer: ForgottenJson,
    companies: 'by_device',
    async handle(request, _reply, scope) {
      const { id } = request.params as { id: string }
      const ids = new Set([id, sameId(id), directory().find(id)?.id ?? id])
      const deleted = await forgetDevice(redis, ids, (lane) => scope.seesLane(lane))
      const days = lastDays(live.config.time_zone)
      await forgetDays(redis, ids, days)
      await forgetAir(redis, ids, days)
      await files.deleted()
      logger.warn({ device: id, ...deleted }, 'what is stored of a device is deleted')
      return (request.audit = { ...deleted })
    },
  }
}

/**
 * Makes Redis rewrite its AOF, which still contains deleted data: at once, then ten minutes later for everything deleted in
 * between. Redis answers nothing while a rewrite begins, uses a core while it writes, and cannot begin a second one before
 * the first ends. A managed Redis may forbid rewrites.
 */
export class FileRewrite {
  readonly #redis: Store
  #pause: NodeJS.Timeout | undefined
  #isDue = false

  constructor(redis: Store) {
    this.#redis = redis
  }

  async deleted(): Promise<void> {
    this.#isDue = true
    if (!this.#pause) await this.#begin()
  }

  /** Rewrites the AOF if deleted data are still in it. */
  async close(): Promise<void> {
    if (this.#isDue) await this.#begin()
    clearTimeout(this.#pause)
  }

  async #begin(): Promise<void> {
    this.#isDue = false
    this.#pause = setTimeout(() => {
      this.#pause = undefined
      if (this.#isDue) void this.#begin()
    }, REWRITE_APART_MS).unref()
    await this.#redis
      .inShards((shard) => shard.bgrewriteaof())
      .catch((error: Error) => {
        this.#isDue ||= error.message.includes('in progress')
      })
  }
}

const REWRITE_APART_MS = 600_000

/** Returns the begins of the days that may have notes, ms UTC. */
function lastDays(zone: string): number[] {
  const days = [localDay(Date.now(), zone).from]
  while (days.length < DAYS_NOTED) days.push(localDay(days[days.length - 1] - 1, zone).from)
  return days
}

/** Fixes by where they were; strings of marks; entries of contacts and events; frames that were not understood; delivered fixes that were kept; fixes for copies; lanes to be asked again for. */
export const ForgottenJson = z.object(
  each(Count, 'waiting', 'parked', 'held', 'marks', 'contacts', 'frames', 'kept', 'copied', 'busy'),
)

const DAYS_NOTED = 33
