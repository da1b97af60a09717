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
 * `DELETE /admin/devices/{id}/data`: deletes the fixes of a device that are not delivered, what recognises its duplicates, what
 * was last heard of it, its frames that were not understood, and its delivered fixes that are kept. Its entry and its assignments stay.
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
 * Has Redis rewrite its file, which still has what was deleted: at once, then ten minutes later for all that was deleted
 * meanwhile. Redis answers nobody while it begins, takes a core while it writes, and does not begin a second time before it has
 * ended. A managed Redis may forbid it.
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

  /** Has it rewritten now where that is due. */
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

/** When the days begin that may have notes, ms UTC. */
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
