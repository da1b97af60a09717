import type { AdminPort } from './admin-port.ts'
import { StatusAnswer } from './answers.ts'
import { ask, jsonOf } from './ask.ts'

/**
 * What the gateway says of itself, its time zone included: local times are always the gateway's, wherever the command runs,
 * since its files are read so. @throws UserError
 */
export async function gatewayStatus(admin: AdminPort): Promise<StatusAnswer> {
  return jsonOf(admin, await ask(admin, { path: '/admin/status' }), StatusAnswer)
}
