import * as z from 'zod'
import { Count, Instant } from './parts.ts'

/** A sender as `GET /admin/arrivals` shows it. */
export const ArrivalJson = z.object({
  at: Instant,
  address: z.string(),
  transport: z.enum(['tcp', 'udp', 'http', 'mqtt']),
  port: z.int().optional(),
  protocol: z.string().optional(),
  evidence: z.array(z.string()),
  is_guess: z.boolean().optional(),
  device: z.string().optional(),
  /** Its fixes are held since they came without what its entry asks for. */
  configured: z.literal(true).optional(),
  /** Only for tokens with the role `operate`; never in events. */
  bytes: z.string().optional(),
  position: z.object({ at: Instant, lat: z.number(), lon: z.number() }).optional(),
  waiting: Count,
})
export type ArrivalJson = z.infer<typeof ArrivalJson>
