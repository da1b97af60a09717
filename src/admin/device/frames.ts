import * as z from 'zod'
import { sameId } from '../../domain/ids.ts'
import { parse } from '../../http/refusal.ts'
import { belongedAt } from '../../roster/device-entry.ts'
import { readFrames, readWatchedFrames, watchedUntil, watchFrames } from '../../store/index.ts'
import { contentOf, type MisunderstoodFrame, requestBytes, shownBytes } from '../../store/misunderstood-frame.ts'
import type { WatchedFrame } from '../../store/watched-frames.ts'
import { instant } from '../json.ts'
import { isSeen } from '../kept-frames.ts'
import type { Operation } from '../operation.ts'
import { PageQuery } from '../paging.ts'
import { type DeviceFrameJson, DeviceFramesJson, WatchJson } from '../schemas/devices.ts'
import { decodedFix } from './json.ts'
import type { DeviceSources } from './list.ts'

/**
 * `POST /admin/devices/{id}/watch` makes the gateways keep the frames of a device for 15 min. `GET
 * /admin/devices/{id}/frames` returns the last 20 of these, and the frames that were not understood, which are always kept.
 * Both also work for an unconfigured device.
 */
export function frameOperations({ redis, directory }: Pick<DeviceSources, 'redis' | 'directory'>): Operation[] {
  const isOwn = (id: string, at: number) => belongedAt(directory().find(id) ?? {}, at)
  const idOf = (params: unknown) => {
    const { id } = params as { id: string }
    return directory().find(id)?.id ?? id
  }

  return [
    {
      method: 'POST',
      path: '/admin/devices/{id}/watch',
      id: 'watchDevice',
      summary: 'Keep the frames of a device for a look, for 15 minutes',
      answer: WatchJson,
      refusals: [404],
      companies: 'by_device',
      handle: async ({ params }) => ({ until_at: instant(await watchFrames(redis, sameId(idOf(params)))) }),
    },
    {
      method: 'GET',
      path: '/admin/devices/{id}/frames',
      id: 'listDeviceFrames',
      summary: 'List the last frames of a device that is watched, and those that were not understood, latest first',
      query: FramesQuery,
      answer: DeviceFramesJson,
      refusals: [404],
      reads: 'positions',
      companies: 'by_device',
      async handle({ params, query }, _reply, scope) {
        const id = idOf(params)
        const { max_results: count } = parse(FramesQuery, query)
        const [until, watched, kept] = await Promise.all([
          watchedUntil(redis, sameId(id)),
          readWatchedFrames(redis, sameId(id)),
          readFrames(redis, { devices: [...new Set([id, sameId(id)])], count: Math.min(count, MOST_KEPT) }),
        ])
        const frames = watched
          .map((json) => JSON.parse(json) as WatchedFrame)
          .filter(({ at, isShared }) => isOwn(id, at) && (scope.isAll || !isShared))
        const times = new Set(frames.map(({ at }) => at))
        const others = kept
          .map(({ text }) => JSON.parse(text) as MisunderstoodFrame)
          .filter(({ at, reason }) => reason !== 'guessed' && !times.has(at))
          .filter((frame) => (frame.company === undefined ? isOwn(id, frame.at) : isSeen(frame, scope)))
        const all = [...frames.map(watchedJson), ...others.map(misunderstoodJson)]
        const latest = all.toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at))
        return { watched_until_at: instant(until), results: latest.slice(0, count) }
      },
    },
  ]
}

const FramesQuery = z.object({ max_results: PageQuery.shape.max_results })

function watchedJson({ at, bytes, reply, fixes, fixCount, ...frame }: WatchedFrame): DeviceFrameJson {
  const { transport, port, remote, protocol, size, error } = frame
  return {
    at: instant(at) ?? '',
    transport,
    port,
    remote,
    protocol,
    size,
    error,
    ...contentJson(Buffer.from(bytes, 'base64')),
    fixes: fixes.map(decodedFix),
    fix_count: fixCount,
    reply: reply && Buffer.from(reply, 'base64').toString('hex'),
  }
}

function misunderstoodJson(frame: MisunderstoodFrame): DeviceFrameJson {
  const { at, protocol, transport, reason, error = `not understood: ${reason.replace('_', ' ')}`, fixes = [] } = frame
  const content = contentOf(frame)
  const bytes = Buffer.isBuffer(content) ? content : requestBytes(content)
  return {
    at: instant(at) ?? '',
    transport,
    protocol,
    size: bytes.length,
    ...contentJson(bytes.subarray(0, SHOWN_BYTES)),
    fixes: fixes
      .slice(0, SHOWN_FIXES)
      .map(([time, latitude, longitude]) => decodedFix({ time, latitude, longitude, valid: true })),
    fix_count: fixes.length,
    error,
  }
}

function contentJson(bytes: Buffer) {
  const shown = shownBytes(bytes, bytes.length)
  return { bytes: bytes.toString('hex'), text: 'text' in shown ? shown.text : undefined }
}

/** Frames that were not understood. */
const MOST_KEPT = 20
const SHOWN_BYTES = 1024
const SHOWN_FIXES = 20
