import { ConfigError, type Problem } from '../config/problem.ts'
import type { Protocols } from '../config/schema.ts'
import { readTracking } from '../config/tracking.ts'
import { readFiles } from './files.ts'
import { assemble, isMistake, problemsOf } from './load.ts'

/** What there is to say about a configuration; with `mistakes` a start would fail, or leave lines out. */
export interface Checked {
  readonly mistakes: readonly Problem[]
  readonly warnings: readonly Problem[]
}

/** Validates the configuration in a directory without starting anything; `now`, ms UTC, says which day is today. */
export async function check(dir: string, protocols: Protocols, now: number): Promise<Checked> {
  const problems = [
    ...(await filesProblems(dir, protocols, now).catch(mistakesOf)),
    ...(await trackingProblems(dir).catch(mistakesOf)),
  ]
  return {
    mistakes: problems.filter(({ severity }) => severity !== 'warning'),
    warnings: problems.filter(({ severity }) => severity === 'warning'),
  }
}

async function filesProblems(dir: string, protocols: Protocols, now: number): Promise<readonly Problem[]> {
  const files = await readFiles(dir, { protocols })
  const problems = await problemsOf(files)
  const { config } = files.gateway.content
  return config && !problems.some(isMistake) ? (await assemble({ files, problems, config, now })).problems : problems
}

async function trackingProblems(dir: string): Promise<readonly Problem[]> {
  return (await readTracking(dir))?.problems ?? []
}

function mistakesOf(error: unknown): readonly Problem[] {
  if (error instanceof ConfigError) return error.mistakes
  throw error
}
