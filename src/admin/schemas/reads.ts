import * as z from 'zod'
import { Instant } from './parts.ts'

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
