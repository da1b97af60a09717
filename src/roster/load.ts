import { yieldToEventLoop } from '../async.ts'
import { ConfigError, type Problem, problemsIn } from '../config/problem.ts'
import type { Config, Protocols } from '../config/schema.ts'
import { advice } from './advice.ts'
import { type Edits, NO_EDITS } from './edits.ts'
import { type Files, readFiles } from './files.ts'
import { fleetMistakes } from './fleet.ts'
import { type Table, tableOf } from './table.ts'

export { ConfigError, type Problem, problemText } from '../config/problem.ts'
export type { Config } from '../config/schema.ts'

/** A configuration without mistakes. */
export interface Loaded extends Omit<Table, 'leftOut'> {
  readonly config: Config
  /** Lines left out, and warnings. */
  readonly problems: readonly Problem[]
  /** What all this was made of. */
  readonly files: Files
  readonly edits: Edits
}

/**
 * Reads the configuration in a directory; files that do not exist are defaults, or empty.
 * @throws ConfigError with all mistakes at once
 */
export async function loadConfig(dir: string, protocols: Protocols): Promise<Loaded> {
  return loadedOf(await readFiles(dir, { protocols }))
}

/** Files as a configuration. @throws ConfigError with all mistakes at once */
export async function loadedOf(files: Files): Promise<Loaded> {
  const problems = await problemsOf(files)
  const { config } = files.gateway.content
  if (!config || problems.some(isMistake)) throw new ConfigError(problems.filter(isMistake))
  return assemble({ files, problems, config, now: Date.now() })
}

/** What is wrong with each file, and with the devices beside one another. */
export async function problemsOf(files: Files): Promise<Problem[]> {
  return [...gatewayProblems(files), ...(await deviceProblems(files)), ...routeProblems(files)]
}

/** What is wrong with gateway.yaml. */
export function gatewayProblems({ gateway }: Files): Problem[] {
  return problemsIn(gateway.source, gateway.content.mistakes)
}

/** What is wrong with the devices' files, by themselves and together. */
export async function deviceProblems({ gateway, devices }: Files): Promise<Problem[]> {
  const contents = devices.map(({ content }) => content)
  const beside = await fleetMistakes(contents, gateway.content.companyIds)
  return devices.flatMap(({ source, content }, index) => problemsIn(source, [...content.mistakes, ...beside[index]]))
}

/** What is wrong with the routes' files by themselves. */
export function routeProblems({ routes }: Files): Problem[] {
  return routes.flatMap(({ source, content }) => problemsIn(source, content.mistakes))
}

/** What a configuration is assembled of. */
export interface Parts {
  readonly files: Files
  /** What is known to be wrong with them: no mistakes. */
  readonly problems: readonly Problem[]
  /** Of the files, or of an earlier state of them. */
  readonly config: Config
  /** What was written through the admin port; default: nothing. */
  readonly edits?: Edits
  /** ms UTC; says which day is today for the warnings. */
  readonly now: number
}

/** Puts files without mistakes and edits together, and finds what only shows then. */
export async function assemble({ files, problems, config, edits = NO_EDITS, now }: Parts): Promise<Loaded> {
  const { leftOut, ...table } = await tableOf(files, edits)
  await yieldToEventLoop()
  const warnings = await advice({ files, edits, ...table, now, zone: config.time_zone })
  return { config, ...table, problems: inOrder([...problems, ...leftOut, ...warnings]), files, edits }
}

function inOrder(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : (a.line ?? 0) - (b.line ?? 0)))
}

/** Whether a problem keeps its file from taking effect. */
export function isMistake({ severity }: Problem): boolean {
  return severity === 'mistake'
}
