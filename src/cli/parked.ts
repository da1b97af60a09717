import type { ParkedCopyJson, ParkedLaneJson } from '../admin/schemas/lanes.ts'
import { type Clock, clockIn } from '../domain/times.ts'
import { UserError } from '../errors.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { listAll, read, readStatus } from './client.ts'
import { countText, printExact, printLines, table } from './output.ts'

interface ParkedOptions extends AdminPortOptions {
  readonly courier?: string
  readonly route?: string
  readonly all?: boolean
  /** Shows refusals of this copy's receiver, in place of the tracking API's. */
  readonly copy?: string
  readonly json?: boolean
}

/** `waybridge parked list`: what the tracking API, or the receiver of a copy, refused, by answer. @returns the exit code @throws UserError */
export async function listParkedCommand(options: ParkedOptions): Promise<number> {
  refuseLaneOfCopy(options)
  if (options.copy !== undefined) return listParkedCopy(options.copy, options)
  const admin = await findAdminPort(options)
  const lanes = await listAll<ParkedLaneJson>(admin, '/admin/parked', choiceOf(options))
  if (options.json) printExact([JSON.stringify({ results: lanes })])
  else if (lanes.length === 0) printLines(['No such position is parked.'])
  else printLines(table(HEAD, lanes.flatMap(rowsOf(clockIn((await readStatus(admin)).status.time_zone, Date.now())))))
  return 0
}

/** `waybridge parked retry` and `delete`. @returns the exit code @throws UserError */
export async function changeParkedCommand(act: 'retry' | 'delete', options: ParkedOptions): Promise<number> {
  const { all, copy, courier, route } = options
  refuseLaneOfCopy(options)
  if (copy === undefined && !all && courier === undefined && route === undefined)
    throw new UserError(`Say what to ${act}: --courier, --route or both, --copy, or --all.`)
  const admin = await findAdminPort(options)
  const { parked, retry, list, query } =
    copy === undefined
      ? { ...OF_API, query: { ...choiceOf(options), ...(all && { all: 'true' }) } }
      : { ...OF_COPY, list: `${OF_API.list} --copy ${copy}`, query: { copy } }
  const [method, path] = act === 'retry' ? (['POST', retry] as const) : (['DELETE', parked] as const)
  const done = await read<{ readonly retried?: number; readonly deleted?: number }>(admin, { method, path, query })
  const positions = countText((act === 'retry' ? done.retried : done.deleted) ?? 0, 'position is', 'positions are')
  printLines([`${positions} ${act === 'retry' ? `tried again; \`${list}\` shows what is refused again` : 'deleted'}.`])
  return 0
}

/** What the receiver of a copy refused is not divided by couriers and routes. @throws UserError */
function refuseLaneOfCopy({ copy, courier, route }: ParkedOptions): void {
  if (copy !== undefined && (courier ?? route) !== undefined)
    throw new UserError('parked: give --copy alone, or --courier and --route.')
}

const OF_API = { parked: '/admin/parked', retry: '/admin/parked/retry', list: 'waybridge parked list' }
const OF_COPY = { parked: '/admin/copies/parked', retry: '/admin/copies/retry' }

async function listParkedCopy(copy: string, { json, ...options }: ParkedOptions): Promise<number> {
  const admin = await findAdminPort(options)
  const refused = await listAll<ParkedCopyJson>(admin, '/admin/copies/parked', { copy })
  if (json) printExact([JSON.stringify({ results: refused })])
  else if (refused.length === 0) printLines([`Nothing is parked of the copy ${copy}.`])
  else {
    const clock = clockIn((await readStatus(admin)).status.time_zone, Date.now())
    const rows = refused.map(({ company_id, device, fixes, status, first_at, message }) => {
      return [company_id, device, String(fixes), String(status || '–'), clock(first_at), message]
    })
    printLines(table(COPY_HEAD, rows))
  }
  return 0
}

function choiceOf({ courier, route }: ParkedOptions): Record<string, string> {
  return { ...(courier !== undefined && { courier_id: courier }), ...(route !== undefined && { route_id: route }) }
}

/** A row for why the lane is parked whole, and one for each answer under which positions were refused. */
function rowsOf(clock: Clock): (lane: ParkedLaneJson) => string[][] {
  return ({ company_id, courier_id, route_id, fixes, parked, refused }) => {
    const row = (count: number, answer: number | string, refusal: string, message: string) => {
      return [company_id, courier_id, route_id, String(count), String(answer), refusal, message]
    }
    const single = refused.reduce((sum, { count }) => sum + count, 0)
    const singles = refused.map(({ status, message, count, first_at }) =>
      row(count, status, `single, since ${clock(first_at)}`, message),
    )
    if (!parked) return singles
    const whole = row(fixes - single, parked.status || '–', `the lane, since ${clock(parked.since_at)}`, parked.message)
    return [whole, ...singles]
  }
}

const COPY_HEAD = ['company', 'device', 'positions', 'answer', 'since', 'message']
const HEAD = ['company', 'courier', 'route', 'positions', 'answer', 'refused', 'message']
