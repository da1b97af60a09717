import * as z from 'zod'

/** What is known of the token of a request: its name and what it may do. The token itself is never answered. */
export const TokenJson = z.object({
  name: z.string(),
  role: z.enum(['read', 'operate']),
  /** Absent for a token for all companies. */
  companies: z.array(z.string()).optional(),
})
export type TokenJson = z.infer<typeof TokenJson>

/** Whether people sign in here. `problem`: why nobody can now. */
export const SignInJson = z.object({
  enabled: z.boolean(),
  /** Whether the request has a valid sign-in cookie. */
  signed_in: z.boolean(),
  problem: z.string().optional(),
})
export type SignInJson = z.infer<typeof SignInJson>

/** `url`: the address at which the browser also signs out from the provider. */
export const SignedOutJson = z.object({ url: z.string().optional() })
export type SignedOutJson = z.infer<typeof SignedOutJson>
