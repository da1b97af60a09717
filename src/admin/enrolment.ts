import * as z from 'zod'
import { duration } from '../config/units.ts'
import { enrolmentLeft, setEnrolment } from '../ingest/enrolment.ts'
import type { Redis } from '../lanes/index.ts'
import { parse } from '../tracking/refusal.ts'
import { Instant, instant } from './json.ts'
import type { Operation } from './operation.ts'

/**
 * `/admin/enrolment`: the window in which devices that are not configured are admitted even with `hold.unknown: false`.
 * Redis keeps the window with its end, so that every gateway closes it by itself.
 */
export function enrolmentOperations(redis: Redis): Operation[] {
  const state = async () => {
    const leftMs = await enrolmentLeft(redis)
    return { open: leftMs > 0, until_at: leftMs > 0 ? instant(Date.now() + leftMs) : undefined }
  }
  const common = { path: '/admin/enrolment', answer: EnrolmentJson }
  return [
    {
      ...common,
      method: 'GET',
      id: 'getEnrolment',
      summary: 'Get whether the enrolment window is open',
      handle: state,
    },
    {
      ...common,
      method: 'POST',
      id: 'openEnrolment',
      summary: 'Open the enrolment window: devices that are not configured are admitted until it closes',
      query: OpenQuery,
      async handle(request) {
        const forMs = parse(OpenQuery, request.query).for
        await setEnrolment(redis, forMs)
        request.audit = { seconds: Math.round(forMs / 1000) }
        return state()
      },
    },
    {
      ...common,
      method: 'DELETE',
      id: 'closeEnrolment',
      summary: 'Close the enrolment window',
      async handle() {
        await setEnrolment(redis, 0)
        return state()
      },
    },
  ]
}

const EnrolmentJson = z.object({ open: z.boolean(), until_at: Instant.optional() })

const MAX_MS = 86_400_000
const FOR_EXPECTED = 'expected a duration such as 30m, at least 1s and at most 24h'
const OpenQuery = z.object({
  for: z
    .string(FOR_EXPECTED)
    .transform((text, context) => {
      const ms = duration(text)
      if (ms !== undefined && ms >= 1000 && ms <= MAX_MS) return ms
      context.addIssue({ code: 'custom', message: FOR_EXPECTED })
      return z.NEVER
    })
    .meta({ description: 'How long from now on: 30m.' }),
})
