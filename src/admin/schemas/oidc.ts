import * as z from 'zod'

/** Whether people sign in here. `problem`: why nobody can now. */
export const SignInJson = z.object({
  enabled: z.boolean(),
  /** Whether the request has the cookie of somebody who is signed in. */
  signed_in: z.boolean(),
  problem: z.string().optional(),
})
export type SignInJson = z.infer<typeof SignInJson>

/** `url`: where the browser goes to sign out at the provider too. */
export const SignedOutJson = z.object({ url: z.string().optional() })
export type SignedOutJson = z.infer<typeof SignedOutJson>
