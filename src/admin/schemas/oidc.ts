import * as z from 'zod'

/** Whether people can sign in here. `problem`: why nobody can now. */
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
