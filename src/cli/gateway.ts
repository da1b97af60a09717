import { UserError } from '../errors.ts'
import { printableUrl } from '../tracking/printable-url.ts'
import type { AdminPort } from './admin-port.ts'
import { StatusAnswer } from './answers.ts'
import { type Answer, ask, jsonOf } from './ask.ts'

/**
 * What the gateway says of itself, its time zone included: local times are always the gateway's, wherever the command runs,
 * since its files are read so. @throws UserError
 */
export async function gatewayStatus(admin: AdminPort): Promise<StatusAnswer> {
  return jsonOf(admin, await askStatus(admin), StatusAnswer)
}

/** `GET /admin/status`, as it is answered. @throws UserError where what answers does not know it: another port than the admin port */
export async function askStatus(admin: AdminPort): Promise<Answer> {
  const answer = await ask(admin, { path: '/admin/status' })
  if (answer.status !== 404) return answer
  throw new UserError(
    `${printableUrl(admin.url)} does not know /admin/status (404): this seems not to be an admin port (admin.port of gateway.yaml, 8080 by default).`,
  )
}
