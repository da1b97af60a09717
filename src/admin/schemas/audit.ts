import * as z from 'zod'
import { Instant } from './parts.ts'

/** A request for a change, as stored. */
const AuditEntry = z.object({
  /** The place of the token, never the token; of a person `oidc:` and their name. */
  token: z.string(),
  /** The id of a person at the provider. */
  subject: z.string().optional(),
  role: z.enum(['read', 'operate']),
  method: z.string(),
  /** As requested, with secrets masked. */
  path: z.string(),
  operation: z.string(),
  status: z.int(),
  /** The companies of the request; absent if it concerns none or several. */
  companies: z.array(z.string()).optional(),
  /** What the operation reports as changed, such as `{ added: 3 }`. */
  summary: z.record(z.string(), z.union([z.number(), z.boolean(), z.string()])).optional(),
})
export type AuditEntry = z.infer<typeof AuditEntry>

export const AuditJson = AuditEntry.extend({ id: z.string(), at: Instant })
export type AuditJson = z.infer<typeof AuditJson>
