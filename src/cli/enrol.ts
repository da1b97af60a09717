import { clockIn } from '../domain/times.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { read, readStatus } from './client.ts'
import { printLines } from './output.ts'

interface EnrolOptions extends AdminPortOptions {
  readonly for?: string
  readonly stop?: boolean
}

/**
 * `waybridge enrol`: opens or closes the enrolment window, or prints whether it is open. @returns the exit code @throws
 * UserError
 */
export async function enrolCommand(options: EnrolOptions): Promise<number> {
  const admin = await findAdminPort(options)
  const { time_zone } = (await readStatus(admin)).status
  const method = options.stop ? 'DELETE' : options.for === undefined ? 'GET' : 'POST'
  const query = options.stop || options.for === undefined ? undefined : { for: options.for }
  const request = { method, path: '/admin/enrolment', query } as const
  const { open, until_at } = await read<{ open: boolean; until_at?: string }>(admin, request)
  const until = until_at === undefined ? '' : clockIn(time_zone, Date.now())(until_at)
  printLines([open ? `open until ${until}: ${OPEN}` : `closed: ${CLOSED}`])
  return 0
}

const OPEN = 'devices that are not configured are admitted, and their fixes are held until you configure them'
const CLOSED = 'devices that are not configured are treated as hold.unknown says'
