import { readFiles } from './files.ts'
import { assemble, deviceProblems, gatewayProblems, mistakesIn, routeProblems } from './load.ts'
import { ConfigError, type Problem } from './problem.ts'
import type { ProtocolPorts } from './schema.ts'

/** What there is to say about a configuration; with `mistakes` a start would fail, or leave lines out. */
export interface Checked {
  readonly mistakes: readonly Problem[]
  readonly warnings: readonly Problem[]
}

/** Validates the configuration in a directory without starting anything; `now`, ms UTC, says which day is today. */
export async function check(dir: string, protocols: readonly ProtocolPorts[], now: number): Promise<Checked> {
  const problems = await allProblems(dir, protocols, now)
  return {
    mistakes: problems.filter(({ severity }) => severity !== 'warning'),
    warnings: problems.filter(({ severity }) => severity === 'warning'),
  }
}

async function allProblems(dir: string, protocols: readonly ProtocolPorts[], now: number): Promise<readonly Problem[]> {
  try {
    const files = await readFiles(dir, { protocols })
    const { config } = files.gateway.content
    if (config && mistakesIn(files).length === 0) return assemble(files, config, now).problems
    return [...gatewayProblems(files), ...deviceProblems(files), ...routeProblems(files)]
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes
    throw error
  }
}
