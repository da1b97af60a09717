import type { StayJson } from '../admin/schemas/parts.ts'
import type { RosterPutJson, RosterResultsJson } from '../admin/schemas/roster.ts'
import { clockIn } from '../domain/times.ts'
import { UserError } from '../errors.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { ask, jsonOf, listAll, read, readStatus, refusalOf } from './client.ts'
import { listText, printExact, printLines, table } from './output.ts'
import { confirmChange } from './question.ts'

interface ListOptions extends AdminPortOptions {
  readonly at?: string
  readonly company?: string
  readonly json?: boolean
}

interface UndoOptions extends AdminPortOptions {
  readonly company?: string
  readonly yes?: boolean
  readonly force?: boolean
}

type Line = StayJson & { readonly device: string; readonly name?: string }
type RosterResultRow = RosterResultsJson['results'][number]

/** `waybridge routes list`: the lines in effect, or those that hold at a time. @returns the exit code @throws UserError */
export async function listRoutesCommand({ at, company, json, ...options }: ListOptions): Promise<number> {
  const admin = await findAdminPort(options)
  const moment = at === 'now' ? new Date().toISOString() : at
  const which = { ...(moment !== undefined && { at: moment }), ...(company !== undefined && { company_id: company }) }
  const lines = await listAll<Line>(admin, '/admin/routes', which)
  if (json) return printExact([JSON.stringify({ results: lines })]), 0
  if (lines.length === 0) return printLines(['No such line of the roster is in effect.']), 0
  const { time_zone } = (await readStatus(admin)).status
  const clock = clockIn(time_zone, Date.now(), 'minutes')
  const rows = lines.map(({ device, name = device, courier_id, route_id, from_at, until_at, source }) => [
    name,
    courier_id,
    route_id,
    from_at === undefined ? '' : clock(from_at),
    until_at === undefined ? '' : clock(until_at),
    source,
  ])
  printLines(table(['DEVICE', 'COURIER', 'ROUTE', 'FROM', 'UNTIL', 'WRITTEN BY'], rows))
  printLines([`Times in ${time_zone}.`])
  return 0
}

/** `waybridge routes undo`: takes the last put or assignment of a company back. @returns the exit code @throws UserError */
export async function undoCommand({ company, yes, force, ...options }: UndoOptions): Promise<number> {
  const admin = await findAdminPort(options)
  const { results } = await read<RosterResultsJson>(admin, { path: '/admin/roster' })
  const put = putToUndo(results, company)
  const { time_zone } = (await readStatus(admin)).status
  const what = `the change of ${clockIn(time_zone, Date.now())(put.at)} by ${put.by} in company ${put.company_id}`
  const query = { put: put.put ?? '', ...(force && { force: 'true' }) }
  const request = { method: 'POST', path: '/admin/roster/undo' } as const
  const trial = await ask(admin, { ...request, query: { ...query, dry_run: 'true' } })
  if (trial.status !== 200 && trial.status !== 409) throw refusalOf(trial)
  const { added, changed, removed, takes = [], warnings = [] } = jsonOf(trial) as RosterPutJson
  printLines([
    `This takes back ${what}: ${added} added, ${changed} changed, ${removed} removed.`,
    ...warnings.map(({ message }) => `warning: ${message}`),
  ])
  const names = listText(takes.map(({ device, name = device }) => name))
  if (trial.status === 409 && takes.length === 0) throw refusalOf(trial)
  if (takes.length > 0 && !force && !(yes && trial.status === 200)) {
    const option = trial.status === 409 ? '--force' : '--yes'
    const question = `${names} ${takes.length === 1 ? 'has' : 'have'} no route then. Go on?`
    if (!(await confirmChange(question, `${names} would have no route; add ${option}`))) return 1
  }
  const isForced = force || trial.status === 409
  await read(admin, { ...request, query: { ...query, ...(isForced && { force: 'true' }) } })
  printLines(['Done.'])
  return 0
}

/** Returns the latest put that was not undone. @throws UserError if there is none, or several companies have one */
function putToUndo(results: readonly RosterResultRow[], company: string | undefined): RosterResultRow {
  const puts = results.filter(({ put, undone }) => put !== undefined && !undone)
  const known = [...new Set(puts.map(({ company_id = '' }) => company_id))]
  const wanted = company ?? (known.length === 1 ? known[0] : undefined)
  if (known.length > 1 && wanted === undefined)
    throw new UserError(`Name the company with --company: ${listText(known)}.`)
  const put = puts.find(({ company_id }) => company_id === wanted)
  if (!put)
    throw new UserError('There is no change that can be taken back: the last 20 of a company are kept for 31 days.')
  return put
}
