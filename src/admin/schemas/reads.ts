import * as z from 'zod'
import { Instant } from './parts.ts'

/** A stored read of positions: of a device, else of a route, else of all devices of the companies. */
const PositionRead = z.object({
  /** As in the audit log. */
  token: z.string(),
  subject: z.string().optional(),
  operation: z.string(),
  device: z.string().optional(),
  route_id: z.string().optional(),
  /** Absent: all companies, and devices that belong to none. */
  companies: z.array(z.string()).optional(),
})
export type PositionRead = z.infer<typeof PositionRead>

export const ReadJson = PositionRead.extend({ id: z.string(), at: Instant })
