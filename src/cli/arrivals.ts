import type { ArrivalJson } from '../admin/schemas/arrivals.ts'
import { clockIn } from '../domain/times.ts'
import { UserError } from '../errors.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { listAll, read, readStatus } from './client.ts'
import { ageText } from './devices.ts'
import { printExact, printLines, table } from './output.ts'

/** `waybridge arrivals`: a line for each sender that is not configured, and what to do. @returns the exit code @throws UserError */
export async function arrivalsCommand(options: AdminPortOptions & { readonly json?: boolean }): Promise<number> {
  const arrivals = await listAll<ArrivalJson>(await findAdminPort(options), '/admin/arrivals')
  const rows = arrivals.map((arrival) => columnsOf(arrival, Date.now()))
  if (options.json) printExact([JSON.stringify({ results: arrivals }, undefined, 2)])
  else printLines(rows.length > 0 ? [...table(HEADS, rows), ...advice(arrivals)] : ['no sender that is not configured'])
  return 0
}

const HEADS = ['device', 'protocol', 'port', 'heard', 'fixes held', 'place or bytes']

function columnsOf(arrival: ArrivalJson, now: number): string[] {
  const { at, bytes = '', device = 'unknown', is_guess, port, position, protocol, transport, waiting } = arrival
  const spoken = protocol === undefined ? 'not understood' : `${protocol}${is_guess ? ', a guess' : ''}`
  const place = position ? `${position.lat.toFixed(5)}, ${position.lon.toFixed(5)}` : beginningOf(bytes)
  return [device, spoken, `${transport} ${port ?? ''}`, `${ageText(now - Date.parse(at))} ago`, String(waiting), place]
}

/** Returns the first bytes for display: as text if all bytes are printable, else as hexadecimal digits. */
function beginningOf(hex: string): string {
  const text = Buffer.from(hex, 'hex').toString('latin1').trim().replaceAll(/\s+/g, ' ')
  return (/^[ -~]+$/.test(text) ? text : hex).slice(0, MOST_SHOWN)
}

/** The lines of devices.yaml that are missing. */
function advice(arrivals: readonly ArrivalJson[]): string[] {
  const ids = arrivals.flatMap(({ device, configured }) => (configured ? [] : (device ?? [])))
  const unproven = arrivals.flatMap(({ device, configured }) => (configured && device !== undefined ? [device] : []))
  return [...entryAdvice(ids), ...unproven.map((id) => `${id} is configured, but not proven: see waybridge why ${id}`)]
}

function entryAdvice(ids: readonly string[]): string[] {
  if (ids.length === 0) return []
  const lines = ids.map((id) => `  ${JSON.stringify(id)}: { name: …, company_id: …, courier_id: …, route_id: … }`)
  return [
    '',
    'Those that are yours need an entry in devices.yaml; the fixes that are held of them are then delivered:',
    ...lines,
  ]
}

interface EnrolOptions extends AdminPortOptions {
  readonly for?: string
  readonly stop?: boolean
}

/** `waybridge enrol`: opens the enrolment window, closes it, or says whether it is open. @returns the exit code @throws UserError */
export async function enrolCommand(options: EnrolOptions): Promise<number> {
  if (options.stop && options.for !== undefined) throw new UserError('enrol: give --for or --stop, not both.')
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

const MOST_SHOWN = 40
const OPEN = 'devices that are not configured are admitted, and their fixes are held until you configure them'
const CLOSED = 'devices that are not configured are treated as hold.unknown says'
