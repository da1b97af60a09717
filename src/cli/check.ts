import { loadConfig, readAll, tileFileProblems, vainSettings } from '../config/files.ts'
import { ConfigError, type Problem, problemText } from '../config/problem.ts'
import type { Protocols } from '../config/schema.ts'
import { readTracking } from '../config/tracking.ts'
import { UserError } from '../errors.ts'
import { remarksOn } from '../roster/advice.ts'
import { rosterOf } from '../roster/file-version.ts'
import type { ApiOptions } from './check-live.ts'
import { findingsOfFiles } from './check-running.ts'
import { countText, printLines } from './output.ts'

export interface CheckOptions extends ApiOptions {
  readonly config: string
  /** Tests the tracking API, too. */
  readonly live?: boolean
}

/**
 * `waybridge check`. @returns the exit code: 1 if a part of the configuration does not take effect, or a test fails @throws
 * UserError
 */
export async function checkCommand({ config: dir, live, ...options }: CheckOptions): Promise<number> {
  if (!live && Object.values(options).some(Boolean))
    throw new UserError('check: --push, --company, --courier and --route need --live.')
  const { protocolPorts } = await import('../../protocols/index.ts')
  const { mistakes, warnings } = await check(dir, protocolPorts, Date.now())
  for (const mistake of mistakes) process.stdout.write(`${problemText(mistake)}\n`)
  for (const warning of warnings) process.stdout.write(`warning: ${problemText(warning)}\n`)
  if (mistakes.length > 0 && live)
    process.stdout.write('The tracking API was not tested: correct the mistakes first.\n')
  if (mistakes.length > 0) return 1
  const { config, files } = await loadConfig(dir, protocolPorts)
  const found = await findingsOfFiles(dir, config, files)
  for (const { action, evidence, message, severity } of found)
    printLines([`${severity === 'error' ? '' : 'warning: '}${[message, ...evidence].join('; ')} → ${action}`])
  if (found.some(({ severity }) => severity === 'error')) return 1
  if (live) return (await import('./check-live.ts')).checkLive(dir, options)
  const count = warnings.length + found.length
  process.stdout.write(`${dir}: no mistakes${count === 0 ? '' : `, ${countText(count, 'warning')}`}\n${FILES_ALONE}\n`)
  return 0
}

const FILES_ALONE =
  'What was put through the admin port is not looked at: `waybridge routes check FILE` compares with that.'

/**
 * Validates the configuration in a directory without starting anything; `now`, ms UTC, determines the day that counts as
 * today. With `mistakes`, a start would fail or skip lines.
 */
export async function check(dir: string, protocols: Protocols, now: number) {
  const problems = [
    ...(await folderProblems(dir, protocols, now).catch(mistakesOf)),
    ...(await readTracking(dir).then((read) => read?.problems ?? [], mistakesOf)),
  ]
  const { warnings = [], mistakes = [] } = Object.groupBy(problems, ({ severity }) =>
    severity === 'warning' ? 'warnings' : 'mistakes',
  )
  return { mistakes, warnings }
}

async function folderProblems(dir: string, protocols: Protocols, now: number): Promise<Problem[]> {
  const { config, files, problems } = await readAll(dir, protocols)
  if (!config) return problems
  const remarks = await remarksOn(files, await rosterOf(files), { now, zone: config.time_zone })
  return [...(await tileFileProblems(files)), ...vainSettings(files), ...remarks]
}

function mistakesOf(error: unknown): readonly Problem[] {
  if (error instanceof ConfigError) return error.mistakes
  throw error
}
