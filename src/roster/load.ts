import { deviceProblems, type Files, gatewayProblems, isMistake, readFiles, routeProblems } from '../config/files.ts'
import { ConfigError, type Problem } from '../config/problem.ts'
import type { Config, Protocols } from '../config/schema.ts'
import { readTracking } from '../config/tracking.ts'
import { advice } from './advice.ts'
import { assignmentOf } from './file-content.ts'
import { createDirectory, type Roster } from './roster.ts'

/** A configuration without mistakes, and the roster that its files alone make. */
export interface Loaded {
  readonly config: Config
  readonly files: Files
  readonly directory: Roster
}

/** Reads the configuration in a directory; files that do not exist are defaults, or empty. @throws ConfigError with all mistakes. */
export async function loadConfig(dir: string, protocols: Protocols): Promise<Loaded> {
  return loadedOf(await readFiles(dir, { protocols }))
}

/** @throws ConfigError with all mistakes at once */
async function loadedOf(files: Files): Promise<Loaded> {
  const mistakes = (await problemsOf(files)).filter(isMistake)
  const { config } = files.gateway.content
  if (!config || mistakes.length > 0) throw new ConfigError(mistakes)
  return { config, files, directory: await rosterOf(files) }
}

/** The roster that files alone make. */
export async function rosterOf({ devices, routes }: Files): Promise<Roster> {
  const lines = routes.flatMap(({ content: { name, rows } }) =>
    rows.map((row) => assignmentOf(row, `${name}:${row.line}`)),
  )
  return createDirectory(
    devices.flatMap(({ content }) => content.devices.map(({ device }) => device)),
    lines,
  )
}

/** What there is to say about a configuration; with `mistakes` a start would fail, or leave lines out. */
export interface Checked {
  readonly mistakes: readonly Problem[]
  readonly warnings: readonly Problem[]
}

/** Validates the configuration in a directory without starting anything; `now`, ms UTC, says which day is today. */
export async function check(dir: string, protocols: Protocols, now: number): Promise<Checked> {
  const problems = [
    ...(await folderProblems(dir, protocols, now).catch(mistakesOf)),
    ...(await readTracking(dir).then((read) => read?.problems ?? [], mistakesOf)),
  ]
  return {
    mistakes: problems.filter(({ severity }) => severity !== 'warning'),
    warnings: problems.filter(({ severity }) => severity === 'warning'),
  }
}

async function folderProblems(dir: string, protocols: Protocols, now: number): Promise<readonly Problem[]> {
  const files = await readFiles(dir, { protocols })
  const problems = await problemsOf(files)
  if (problems.some(isMistake)) return problems
  const { directory, config } = await loadedOf(files)
  return inOrder([...problems, ...(await advice(directory, files, { now, zone: config.time_zone }))])
}

/** What is wrong with each file, and with the devices beside one another. */
export async function problemsOf(files: Files): Promise<Problem[]> {
  return [...gatewayProblems(files), ...(await deviceProblems(files)), ...routeProblems(files)]
}

/** In the order of files and lines. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : (a.line ?? 0) - (b.line ?? 0)))
}

function mistakesOf(error: unknown): readonly Problem[] {
  if (error instanceof ConfigError) return error.mistakes
  throw error
}
