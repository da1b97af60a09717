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

/** A read of positions, as it is kept: of a device, else of a route, else of all that the companies have. */
const PositionRead = z.object({
  /** As in the audit log. */
  token: z.string(),
  subject: z.string().optional(),
  operation: z.string(),
  device: z.string().optional(),
  route_id: z.string().optional(),
  /** Absent: of all companies, and of devices that belong to none. */
  companies: z.array(z.string()).optional(),
})
export type PositionRead = z.infer<typeof PositionRead>

export const ReadJson = PositionRead.extend({ id: z.string(), at: Instant })
