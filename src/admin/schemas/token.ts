import * as z from 'zod'

/** What is known of the token of a request: its name and what it may do. The token itself is never answered. */
export const TokenJson = z.object({
  name: z.string(),
  role: z.enum(['read', 'operate']),
  /** Absent for a token for all companies. */
  companies: z.array(z.string()).optional(),
})
export type TokenJson = z.infer<typeof TokenJson>
