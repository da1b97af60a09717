import type * as z from 'zod'
import type { ChainJson } from '../admin/device/chain.ts'
import type { AdminPort } from './admin-port.ts'
import { ask, bodyOf, readStatus, refusalOf } from './client.ts'

export type ChainAnswer = z.infer<typeof ChainJson>

interface ChainRead {
  /** As the admin port has answered it. */
  readonly text: string
  readonly chain?: ChainAnswer
  /** Why a device is missing that was deleted while a file still has its entry. */
  readonly missing: string
}

/**
 * What is known of every device while the admin port cannot look at one: the links that are broken for all.
 * @throws `unavailable` where nothing is found to be wrong
 */
export async function chainOfAll(
  admin: AdminPort,
  unavailable: Error,
): Promise<Omit<ChainAnswer, 'device' | 'time_zone'>> {
  const { status } = await readStatus(admin)
  const findings = status.findings.filter(({ severity }) => severity === 'error')
  if (findings.length === 0) throw unavailable
  const links = findings.map((finding) => {
    const { link, since_at, evidence } = finding
    return { link, state: 'broken' as const, since_at, evidence, finding }
  })
  const sentence = findings.map(({ message }) => message).join('; ')
  return { sentence, broken: findings[0].link, links, findings }
}

/** `GET /admin/devices/{id}/chain`. @throws UserError */
export async function chainOf(admin: AdminPort, id: string): Promise<ChainRead> {
  const answer = await ask(admin, { path: `/admin/devices/${encodeURIComponent(id)}/chain` })
  const body = bodyOf(answer) as (ChainAnswer & { readonly message?: string }) | undefined
  if (answer.status === 200 && body) return { text: answer.text, chain: body, missing: '' }
  if (answer.status === 404 && body?.message) return { text: answer.text, missing: body.message }
  throw refusalOf(answer)
}
