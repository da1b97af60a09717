import { readFile } from 'node:fs/promises'
import { ConfigError, problemsIn, type Source } from '../config/problem.ts'
import { readRoutes } from '../config/routes.ts'
import { localDay, localFromUtc } from '../config/zone.ts'
import { UserError } from '../run/errors.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import type { ListedDevice, RosterAnswer } from './answers.ts'
import { type Answer, ask, errorsOf, jsonOf, refusalText } from './ask.ts'
import { localClock } from './clock.ts'
import { listDevices } from './devices.ts'
import { momentOption } from './moment.ts'
import { print } from './output.ts'
import { rosterSentence } from './roster.ts'

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
  const window = await windowOf({ name: file, file, text: bytes.toString() }, options, admin.zone)
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
  if (answer.status !== 200) return refused(file, answer)
  const roster = jsonOf(admin, answer) as RosterAnswer
  const { rejected, added, changed, removed } = roster
  await print([
    ...rejected.map(({ line, message }) => `${file}:${line}: ${message}`),
    `company ${company}, ${windowText(window, admin.zone)}: ${added} added, ${changed} changed, ${removed} removed`,
    rosterSentence(roster, { devices, company, act, clock: localClock('minutes') }),
  ])
  return act === 'check' && rejected.length > 0 ? 1 : 0
}

/** The lines of a company that begin in it are replaced; unix seconds, `until` exclusive. */
interface Window {
  readonly from: number
  readonly until: number
}

/** As options say, else the local days on which the file's lines begin. */
async function windowOf(source: Source, { from, until }: RoutesOptions, zone: string): Promise<Window> {
  if (from !== undefined && until !== undefined)
    return { from: momentOption('--from', from, zone), until: momentOption('--until', until, zone) }
  const { rows, mistakes } = await readRoutes(source, zone)
  if (rows.length === 0 && mistakes.length > 0) throw new ConfigError(problemsIn(source, mistakes))
  if (rows.length === 0) throw new UserError(`${source.file}: no lines; say with --from and --until what to replace.`)
  let [first, last] = [Infinity, -Infinity]
  for (const row of rows) [first, last] = [Math.min(first, row.from), Math.max(last, row.from)]
  return {
    from: from === undefined ? localDay(first * 1000, zone).from / 1000 : momentOption('--from', from, zone),
    until: until === undefined ? localDay(last * 1000, zone).until / 1000 : momentOption('--until', until, zone),
  }
}

function onlyCompany(devices: readonly ListedDevice[]): string {
  const companies = new Set(devices.flatMap(({ company_id }) => company_id ?? []))
  const [company] = companies
  if (companies.size === 1) return company
  const known = companies.size === 0 ? 'no device is configured yet' : `there are ${[...companies].join(', ')}`
  throw new UserError(`Say with --company whose routes these are: ${known}.`)
}

async function refused(file: string, answer: Answer): Promise<number> {
  const lines = errorsOf(answer).map(({ path, message }) => {
    const line = /^line (\d+)$/.exec(path)?.[1]
    return `${line === undefined ? `${file}: ${path}` : `${file}:${line}`}: ${message}`
  })
  const force = answer.status === 409 ? ' (routes put --force does it all the same)' : ''
  await print([...lines, `${refusalText(answer)}${force}`])
  return 1
}

function instantOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** `2026-11-20 00:00 to 2026-11-21 00:00 (Europe/Berlin)` */
function windowText({ from, until }: Window, zone: string): string {
  const text = (seconds: number) =>
    new Date(localFromUtc(seconds * 1000, zone)).toISOString().slice(0, 16).replace('T', ' ')
  return `${text(from)} to ${text(until)} (${zone})`
}

function unreadable(file: string, error: NodeJS.ErrnoException): never {
  if (error.code !== 'ENOENT' && error.code !== 'EISDIR') throw error
  throw new UserError(`${file}: ${error.code === 'ENOENT' ? 'there is no such file' : 'a folder, expected a file'}.`)
}
