import { certificateProblems, type Files, isMistake, problemsOf, readFiles } from '../config/files.ts'
import { ConfigError, type Problem } from '../config/problem.ts'
import type { Protocols } from '../config/schema.ts'
import { readTracking } from '../config/tracking.ts'
import { sameId } from '../config/units.ts'
import { remarksOn } from './advice.ts'
import type { Assignment } from './directory.ts'
import { assignmentField, Roster } from './roster.ts'
import { withoutSecret } from './secret.ts'

/** Reads the configuration in a directory; files that do not exist are defaults, or empty. @throws ConfigError with all mistakes. */
export async function loadConfig(dir: string, protocols: Protocols) {
  const { config, files, problems } = await readAll(dir, protocols)
  if (!config) throw new ConfigError(problems.filter(isMistake))
  return { config, files }
}

/** The files of a directory, what is wrong with them, and the configuration where they have no mistakes. */
async function readAll(dir: string, protocols: Protocols) {
  const files = await readFiles(dir, { protocols })
  const problems = [...(await problemsOf(files)), ...certificateProblems(files)]
  return { files, problems, config: problems.some(isMistake) ? undefined : files.gateway.content.config }
}

/** The roster that files alone make. */
export async function rosterOf({ devices, routes }: Files): Promise<Roster> {
  const lines = routes.flatMap(({ content: { name, rows } }) =>
    rows.map(({ device, courier_id, route_id, from, until, line }): Assignment => {
      return { device, courier_id, route_id, from, until, source: `${name}:${line}` }
    }),
  )
  const roster = new Roster()
  await roster.applyInSlices({
    devices: devices.flatMap(({ content }) =>
      content.devices.map(({ device }) => [sameId(device.id), withoutSecret(device)] as const),
    ),
    assignments: lines.map((line) => [assignmentField(line), line] as const),
  })
  return roster
}

/**
 * Validates the configuration in a directory without starting anything; `now`, ms UTC, says which day is today. With `mistakes`
 * a start would fail, or leave lines out.
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
  return remarksOn(files, await rosterOf(files), { now, zone: config.time_zone })
}

function mistakesOf(error: unknown): readonly Problem[] {
  if (error instanceof ConfigError) return error.mistakes
  throw error
}
