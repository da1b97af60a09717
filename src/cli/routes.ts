import { readFile } from 'node:fs/promises'
import { ConfigError, problemsIn, type Source } from '../config/problem.ts'
import { UserError } from '../errors.ts'
import { type RouteFile, readRoutes } from '../roster/routes.ts'
import { type AdminPort, type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { type Answer, ask } from './ask.ts'
import { companyOf } from './company.ts'
import { listDevices } from './devices.ts'
import { gatewayStatus } from './gateway.ts'
import { say } from './output.ts'
import { type Part, partsOf } from './parts.ts'
import { isWell, leftOutSentence, type Outcome, type Reported, report } from './report.ts'
import { windowsOf, windowText } from './window.ts'
import { listText } from './words.ts'

export interface RoutesOptions extends AdminPortOptions {
  readonly company?: string
  readonly from?: string
  readonly until?: string
  readonly force?: boolean
}

/**
 * `waybridge routes check` and `routes put`: what a file would do to a company's roster, or does, on each run of adjacent days
 * on which its lines begin; answers with the exit code. 1 where a line is left out, or something refused: of several runs none
 * is put before none would be refused. @throws UserError
 */
export async function routesCommand(act: 'check' | 'put', file: string, options: RoutesOptions): Promise<number> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => unreadable(file, error))
  const admin = await findAdminPort(options)
  const { time_zone: zone } = await gatewayStatus(admin)
  const source = { name: 'routes.csv', file, text: bytes.toString() }
  const read = await readRoutes(source, zone)
  const windows = windowsOf(read.rows, options, zone)
  if (windows.length === 0) throw useless(source, read)
  const devices = await listDevices(admin)
  const company = options.company ?? companyOf(read.rows, devices)
  const parts = partsOf(bytes, read, windows)
  const about = { file, admin, zone, company, devices, runs: parts.length }
  const send = senderTo(admin, company, options.force)
  const trial = act === 'check' || parts.length > 1 ? await outcomesOf(parts, (part) => send(part, true)) : []
  if (act === 'check') return sayAll(trial, { ...about, would: true })
  if (trial.every(({ answer }) => answer.status === 200)) return putAll(parts, (part) => send(part, false), about)
  sayAll(trial, { ...about, would: true })
  say(['nothing is put'])
  return 1
}

type Send = (part: Part) => Promise<Answer>

function senderTo(admin: AdminPort, company: string, force = false) {
  return ({ window: { from, until }, body }: Part, dryRun: boolean): Promise<Answer> => {
    const query = {
      company_id: company,
      from: new Date(from * 1000).toISOString(),
      until: new Date(until * 1000).toISOString(),
      dry_run: dryRun ? 'true' : undefined,
      force: force ? 'true' : undefined,
    }
    return ask(admin, { method: 'PUT', path: '/admin/routes', query, body })
  }
}

async function outcomesOf(parts: readonly Part[], send: Send): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const part of parts) outcomes.push({ window: part.window, answer: await send(part) })
  return outcomes
}

function sayAll(outcomes: readonly Outcome[], about: Omit<Reported, 'isLast'>): number {
  for (const [index, outcome] of outcomes.entries())
    say(report(outcome, { ...about, isLast: index === outcomes.length - 1 }))
  return outcomes.every((outcome) => isWell(outcome, about)) ? 0 : 1
}

/** Puts each part and says what became of it, up to the first that is refused. @throws UserError */
async function putAll(parts: readonly Part[], send: Send, about: Omit<Reported, 'isLast' | 'would'>): Promise<number> {
  const put: Outcome[] = []
  for (const [index, part] of parts.entries()) {
    const texts = parts.map(({ window }) => windowText(window, about.zone))
    const done = index === 0 ? 'nothing is put' : `put: ${listText(texts.slice(0, index))}`
    const left = listText(texts.slice(index))
    const answer = await send(part).catch((error: Error) => {
      if (parts.length === 1 || !(error instanceof UserError)) throw error
      throw new UserError(`${error.message} ${done}; not put, or not known to be: ${left}`)
    })
    const outcome = { window: part.window, answer }
    say(report(outcome, { ...about, would: answer.status !== 200, isLast: index === parts.length - 1 }))
    if (answer.status !== 200) {
      if (parts.length > 1) say([`${done}; not put: ${left}`])
      return 1
    }
    put.push(outcome)
  }
  const leftOut = leftOutSentence(put, about)
  say(leftOut === undefined ? [] : [leftOut])
  return leftOut === undefined ? 0 : 1
}

/** Why there is nothing to put. */
function useless(source: Source, { mistakes }: RouteFile): Error {
  if (mistakes.length > 0) return new ConfigError(problemsIn(source, mistakes))
  return new UserError(`${source.file}: no lines; say with --from and --until what to replace.`)
}

function unreadable(file: string, error: NodeJS.ErrnoException): never {
  if (error.code !== 'ENOENT' && error.code !== 'EISDIR') throw error
  throw new UserError(`${file}: ${error.code === 'ENOENT' ? 'there is no such file' : 'a folder, expected a file'}.`)
}
