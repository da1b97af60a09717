import * as z from 'zod'
import { sameId } from '../../domain/ids.ts'
import { releaseSuspicious } from '../../store/index.ts'
import type { Operation } from '../operation.ts'
import { Count } from '../schemas/parts.ts'
import type { DeviceSources } from './list.ts'

/** `POST /admin/devices/{id}/release`: has the held fixes of a device delivered that are off its track. */
export function releaseOperation({ redis, directory }: Pick<DeviceSources, 'redis' | 'directory'>): Operation {
  return {
    method: 'POST',
    path: '/admin/devices/{id}/release',
    id: 'releaseDevice',
    summary: 'Deliver the fixes of a device that are held because they are off its track (filter.suspicious: hold)',
    answer: ReleasedJson,
    companies: 'by_device',
    async handle(request) {
      const { id } = request.params as { id: string }
      const released = await releaseSuspicious(redis, new Set([id, sameId(id), directory().find(id)?.id ?? id]))
      return (request.audit = { released })
    },
  }
}

/** Number of fixes that are no longer held as `suspicious`. */
export const ReleasedJson = z.object({ released: Count })
