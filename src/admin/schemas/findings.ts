import * as z from 'zod'
import { LINKS } from '../../diagnose/codes.ts'
import { Count, Instant } from './parts.ts'

export const LinkName = z.enum(LINKS)
export type LinkName = z.infer<typeof LinkName>
export const Severity = z.enum(['info', 'warning', 'error'])
export const LinkHealth = z.enum(['ok', 'broken', 'idle', 'unknown'])

/** One thing that is wrong. `subject` is empty if it concerns the whole system. */
export const FindingJson = z.object({
  code: z.string(),
  severity: Severity,
  link: LinkName,
  subject: z.object({
    device: z.string().optional(),
    company_id: z.string().optional(),
    courier_id: z.string().optional(),
    route_id: z.string().optional(),
    listener: z.string().optional(),
    process: z.string().optional(),
    file: z.string().optional(),
    host: z.string().optional(),
    pull: z.string().optional(),
    receiver: z.string().optional(),
    api: z.string().optional(),
    copy: z.string().optional(),
  }),
  since_at: Instant,
  ended_at: Instant.optional(),
  count: Count,
  evidence: z.array(z.string()),
  message: z.string(),
  action: z.string(),
  /** The same in the words of a dispatcher. */
  plain: z.object({ message: z.string(), action: z.string() }),
})
export type FindingJson = z.infer<typeof FindingJson>
