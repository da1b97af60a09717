import * as z from 'zod'

/** The name and the permissions of the token of a request; never the token itself. */
export const TokenJson = z.object({
  name: z.string(),
  role: z.enum(['read', 'operate']),
  /** Absent for a token for all companies. */
  companies: z.array(z.string()).optional(),
})
export type TokenJson = z.infer<typeof TokenJson>
