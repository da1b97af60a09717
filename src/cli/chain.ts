import type * as z from 'zod'
import type { ChainJson } from '../admin/device/chain.ts'
import { UserError } from '../errors.ts'
import type { AdminPort } from './admin-port.ts'
import { ask, bodyOf, errorText } from './client.ts'

export type ChainAnswer = z.infer<typeof ChainJson>

interface ChainRead {
  /** As the admin port has answered it. */
  readonly text: string
  readonly chain?: ChainAnswer
  /** Of a device that was deleted while a file still has it. */
  readonly missing: string
}

/** `GET /admin/devices/{id}/chain`. @throws UserError */
export async function chainOf(admin: AdminPort, id: string): Promise<ChainRead> {
  const answer = await ask(admin, { path: `/admin/devices/${encodeURIComponent(id)}/chain` })
  const body = bodyOf(answer) as (ChainAnswer & { readonly message?: string }) | undefined
  if (answer.status === 200 && body) return { text: answer.text, chain: body, missing: '' }
  if (answer.status === 404 && body?.message) return { text: answer.text, missing: body.message }
  throw new UserError(errorText(answer))
}
