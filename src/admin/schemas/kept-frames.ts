import * as z from 'zod'
import { Count, each, Instant } from './parts.ts'

/**
 * A frame that was not understood, as it is kept. `reason`: why it is not understood; `read`: what the decoder has read of it; `text` or
 * `hex`: its first 1,024 bytes; `opening`: how many frames of the beginning of its conversation are kept with it. `content`, where it is
 * asked for: all of them in base64, the places that were read, and the other devices of
 * a relay's frame.
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
