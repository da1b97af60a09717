import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { ask, bodyOf, errorText, readStatus } from './client.ts'
import { UserError } from '../errors.ts'
import { clockIn } from '../config/times.ts'
import { printLines } from './output.ts'

interface EnrolOptions extends AdminPortOptions {
  readonly for?: string
  readonly stop?: boolean
}

/** `waybridge enrol`: opens the enrolment window, closes it, or says whether it is open. @returns the exit code @throws UserError */
export async function enrolCommand(options: EnrolOptions): Promise<number> {
  const admin = await findAdminPort(options)
  const { time_zone } = (await readStatus(admin)).status
  const method = options.stop ? 'DELETE' : options.for === undefined ? 'GET' : 'POST'
  const query = method === 'POST' && options.for !== undefined ? { for: options.for } : undefined
  const answer = await ask(admin, { method, path: '/admin/enrolment', query })
  if (answer.status !== 200) throw new UserError(errorText(answer))
  const { open, until_at } = bodyOf(answer) as { open: boolean; until_at?: string }
  const until = until_at === undefined ? '' : clockIn(time_zone, Date.now())(until_at)
  printLines([open ? `open until ${until}: ${OPEN}` : `closed: ${CLOSED}`])
  return 0
}

const OPEN = 'devices that are not configured are admitted, and their fixes are held until you configure them'
const CLOSED = 'devices that are not configured are treated as hold.unknown says'
