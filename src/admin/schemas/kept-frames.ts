import * as z from 'zod'
import { Count, each, Instant } from './parts.ts'

/**
 * A stored frame that was not understood. `reason`: why not; `read`: the part that the decoder could read; `text` or `hex`:
 * its first 1,024 bytes; `opening`: number of earlier frames of the conversation that are stored with it. `content`, on
 * request: all bytes in base64, the offsets that were read, and the other devices of a relay's frame.
 */
export const KeptFrameJson = z.object({
  id: z.string(),
  at: Instant,
  ...each(z.string(), 'device', 'protocol', 'transport', 'reason'),
  ...each(z.string().optional(), 'company_id', 'error', 'method', 'uri'),
  bytes: Count,
  ...each(z.string().optional(), 'text', 'hex'),
  read: z.object({ fixes: Count, unreadable: z.array(Count) }),
  opening: Count,
  content: z
    .object({
      body: z.string(),
      content_type: z.string().optional(),
      opening: z.array(z.string()),
      others: z.array(z.string()),
      places: z.array(z.object({ lat: z.number(), lon: z.number() })),
    })
    .optional(),
})
export type KeptFrameJson = z.infer<typeof KeptFrameJson>
