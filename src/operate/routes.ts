import { readFile } from 'node:fs/promises'
import { UserError } from '../run/errors.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { type ListedDevice, RosterAnswer } from './answers.ts'
import { type Answer, ask, bodyOf, errorsOf, refusalText } from './ask.ts'
import { clockIn } from './clock.ts'
import { listDevices } from './devices.ts'
import { gatewayStatus } from './gateway.ts'
import { say } from './output.ts'
import { rosterSentence } from './roster.ts'
import { windowOf, windowText } from './window.ts'

export interface RoutesOptions extends AdminPortOptions {
  readonly company?: string
  readonly from?: string
  readonly until?: string
  readonly force?: boolean
}

/**
 * `waybridge routes check` and `routes put`: what a file would do to a company's roster, or does; answers with the exit code.
 * A check is 1 where a line is rejected or the whole refused, a put only where nothing took effect. @throws UserError
 */
export async function routesCommand(act: 'check' | 'put', file: string, options: RoutesOptions): Promise<number> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => unreadable(file, error))
  const admin = await findAdminPort(options)
  const { time_zone } = await gatewayStatus(admin)
  const window = await windowOf({ name: 'routes.csv', file, text: bytes.toString() }, options, time_zone)
  const devices = await listDevices(admin)
  const company = options.company ?? onlyCompany(devices)
  const answer = await ask(admin, {
    method: 'PUT',
    path: '/admin/routes',
    query: {
      company_id: company,
      from: instantOf(window.from),
      until: instantOf(window.until),
      dry_run: act === 'check' ? 'true' : undefined,
      force: options.force ? 'true' : undefined,
    },
    body: bytes,
  })
  if (answer.status !== 200 && answer.status !== 409) return refused(file, answer)
  const roster = bodyOf(admin, answer, RosterAnswer)
  const { rejected, warnings = [], added, changed, removed } = roster
  const taken = answer.status === 200
  const would = act === 'check' || !taken
  say([
    ...rejected.map(({ line, message }) => `${file}:${line}: ${message}`),
    ...warnings.map(({ line, message }) => `warning: ${file}:${line}: ${message}`),
    `company ${company}, ${windowText(window, time_zone)}${would ? ' would have' : ':'} ${added} added, ${changed} changed, ${removed} removed`,
    rosterSentence(roster, { devices, company, would, clock: clockIn(time_zone, Date.now(), 'minutes') }),
    ...(taken ? [] : [`${refusalText(answer)} (routes put --force)`]),
  ])
  return !taken || (act === 'check' && rejected.length > 0) ? 1 : 0
}

function onlyCompany(devices: readonly ListedDevice[]): string {
  const companies = new Set(devices.flatMap(({ company_id }) => company_id ?? []))
  const [company] = companies
  if (companies.size === 1) return company
  const known = companies.size === 0 ? 'no device is configured yet' : `there are ${[...companies].join(', ')}`
  throw new UserError(`Say with --company whose routes these are: ${known}.`)
}

/** Prints what is wrong with which lines, else with the whole. */
function refused(file: string, answer: Answer): number {
  const lines = errorsOf(answer).map(({ path, message }) => {
    const line = /^line (\d+)$/.exec(path)?.[1]
    return `${line === undefined ? (OPTIONS.get(path) ?? `${file}: ${path}`) : `${file}:${line}`}: ${message}`
  })
  say(lines.length > 0 ? lines : [refusalText(answer)])
  return 1
}

function instantOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

function unreadable(file: string, error: NodeJS.ErrnoException): never {
  if (error.code !== 'ENOENT' && error.code !== 'EISDIR') throw error
  throw new UserError(`${file}: ${error.code === 'ENOENT' ? 'there is no such file' : 'a folder, expected a file'}.`)
}

/** What of the question an option says. */
const OPTIONS = new Map([
  ['company_id', '--company'],
  ['from', '--from'],
  ['until', '--until'],
])
