import * as z from 'zod'
import { sameId } from '../domain/ids.ts'
import { ApiRefusal, parse } from '../http/refusal.ts'
import type { Logger } from '../observe/log.ts'
import { dropFrames, type FrameSelection, type Store, readFrames, type StoredFrame } from '../store/index.ts'
import { contentOf, type MisunderstoodFrame, shownBytes } from '../store/misunderstood-frame.ts'
import type { DeviceSources } from './device/list.ts'
import { instant } from './json.ts'
import type { Operation } from './operation.ts'
import { PageQuery, wrongToken } from './paging.ts'
import { KeptFrameJson } from './schemas/kept-frames.ts'
import { DeletedJson } from './schemas/lanes.ts'
import { Flag, pageSchema } from './schemas/parts.ts'
import type { Scope } from './scope.ts'

interface MisunderstoodSources extends Pick<DeviceSources, 'redis' | 'directory'> {
  readonly logger: Logger
}

/**
 * `GET /admin/misunderstood` lists the stored frames that were not understood, latest first, of one device or of all.
 * `DELETE` deletes them, which makes room for others.
 */
export function misunderstoodOperations({ redis, directory, logger }: MisunderstoodSources): Operation[] {
  const idsOf = (device: string) => [...new Set([directory().find(device)?.id ?? device, sameId(device)])]
  return [
    {
      method: 'GET',
      path: '/admin/misunderstood',
      id: 'listMisunderstood',
      summary: 'List the frames that were not understood, latest first, with what was read of them',
      query: ListQuery,
      answer: pageSchema(KeptFrameJson),
      reads: 'positions',
      companies: 'filtered',
      async handle({ query }, _reply, scope) {
        const { content, device, max_results: most, page_token: before } = parse(ListQuery, query)
        const isWhole = content === 'true'
        const max_results = isWhole ? Math.min(most, WHOLE_AT_ONCE) : most
        if (before !== undefined && !FRAME_ID.test(before)) throw wrongToken()
        const devices = device === undefined ? undefined : idsOf(device)
        const frames = await seenFrames(redis, scope, { devices, before, count: max_results + 1 })
        const results = frames.slice(0, max_results).map((frame) => frameJson(frame, isWhole))
        return { results, next_page_token: frames.length > max_results ? results.at(-1)?.id : undefined }
      },
    },
    {
      method: 'DELETE',
      path: '/admin/misunderstood',
      id: 'deleteMisunderstood',
      summary: 'Delete the frames that were not understood, of one device or all',
      query: ChoiceQuery,
      answer: DeletedJson,
      companies: 'filtered',
      async handle(request, _reply, scope) {
        const { all, device } = parse(ChoiceQuery, request.query)
        if (device === undefined && all !== 'true')
          throw new ApiRefusal(422, 'say what is to be deleted: device, or all=true')
        const which: FrameSelection = { devices: device === undefined ? undefined : idsOf(device), count: AT_ONCE }
        let deleted = 0
        const read = () => seenFrames(redis, scope, which)
        for (let some = await read(); some.length > 0; some = await read()) deleted += await dropFrames(some)
        logger.warn({ device, deleted }, 'frames that were not understood are deleted')
        return (request.audit = { deleted })
      },
    },
  ]
}

/**
 * Resolves to at most `count` frames of the selection, latest first; all devices of a frame must belong to companies in the
 * scope.
 */
async function seenFrames(redis: Store, scope: Scope, selection: FrameSelection): Promise<StoredFrame[]> {
  if (scope.isAll) return readFrames(redis, selection)
  const seen: StoredFrame[] = []
  for (let { before } = selection; ; ) {
    const frames = await readFrames(redis, { ...selection, before, count: LOOKED_AT })
    seen.push(...frames.filter(({ text }) => isSeen(JSON.parse(text) as MisunderstoodFrame, scope)))
    before = frames.at(-1)?.id
    if (before === undefined || seen.length >= selection.count) return seen.slice(0, selection.count)
  }
}

/** Whether all accepted devices of a frame belong to companies of the scope. */
export function isSeen({ company, others = [] }: MisunderstoodFrame, scope: Scope): boolean {
  return scope.sees(company) && others.every(([, other]) => scope.sees(other))
}

/** `content`: with the whole frames, in base64, at most 50 in a page. */
const ListQuery = PageQuery.extend({
  device: z.string('expected one id').optional(),
  content: Flag,
})
const ChoiceQuery = z.object({
  device: z.string('expected one id').optional(),
  all: Flag,
})

function frameJson({ id, text }: StoredFrame, isWhole: boolean): KeptFrameJson {
  const frame = JSON.parse(text) as MisunderstoodFrame
  const { at, device, company: company_id, protocol, transport, reason, error } = frame
  const content = contentOf(frame)
  const { method, uri, body } = Buffer.isBuffer(content)
    ? { method: undefined, uri: undefined, body: content }
    : content
  return {
    id,
    at: instant(at) ?? '',
    device,
    company_id,
    protocol,
    transport,
    reason,
    error,
    method,
    uri,
    bytes: body.length,
    ...shownBytes(body, SHOWN_BYTES),
    read: { fixes: frame.fixes?.length ?? 0, unreadable: [...(frame.unreadable ?? [])] },
    opening: frame.opening?.length ?? 0,
    content: isWhole ? wholeOf(frame) : undefined,
  }
}

function wholeOf({
  frame,
  request,
  opening = [],
  fixes = [],
  others = [],
}: MisunderstoodFrame): KeptFrameJson['content'] {
  const places = fixes.map(([, lat, lon]) => ({ lat, lon }))
  return {
    body: frame ?? request?.body ?? '',
    content_type: request?.headers['content-type'],
    opening: [...opening],
    others: others.map(([id]) => id),
    places,
  }
}

const AT_ONCE = 500
/** Frames read at once when searching for those of some companies: a frame may have 64 KiB. */
const LOOKED_AT = 100
const SHOWN_BYTES = 1024
/** Whole frames in a page. */
const WHOLE_AT_ONCE = 50
/** See store/kept-frames.ts. */
const FRAME_ID = /^\d+-[0-9a-f]+-/
