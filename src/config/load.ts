import { advice } from './advice.ts'
import { createDirectory, type Device, type Directory, type RouteLine } from './directory.ts'
import { type Files, readFiles } from './files.ts'
import { fleetMistakes } from './fleet.ts'
import { ConfigError, type Problem, problemsIn } from './problem.ts'
import { indexDevices, resolveRoutes } from './routes.ts'
import type { Config, ProtocolPorts } from './schema.ts'

export { ConfigError, type Problem, problemText } from './problem.ts'
export type { Config } from './schema.ts'

/** A configuration without mistakes. */
export interface Loaded {
  readonly config: Config
  readonly devices: readonly Device[]
  readonly routes: readonly RouteLine[]
  readonly directory: Directory
  /** Lines left out, and warnings. */
  readonly problems: readonly Problem[]
  /** What all this was made of. */
  readonly files: Files
}

/**
 * Reads the configuration in a directory; files that do not exist are defaults, or empty.
 * @throws ConfigError with all mistakes at once
 */
export async function loadConfig(dir: string, protocols: readonly ProtocolPorts[]): Promise<Loaded> {
  const files = await readFiles(dir, { protocols })
  const mistakes = mistakesIn(files)
  const { config } = files.gateway.content
  if (mistakes.length > 0 || !config) throw new ConfigError(mistakes)
  return assemble(files, config, Date.now())
}

/** Everything for which these files cannot take effect. */
export function mistakesIn(files: Files): Problem[] {
  return [...gatewayProblems(files), ...deviceProblems(files), ...routeProblems(files)].filter(isMistake)
}

/** What is wrong with gateway.yaml. */
export function gatewayProblems({ gateway }: Files): Problem[] {
  return problemsIn(gateway.source, gateway.content.mistakes)
}

/** What is wrong with the devices' files, by themselves and together. */
export function deviceProblems({ gateway, devices }: Files): Problem[] {
  const beside = fleetMistakes(
    devices.map(({ content }) => content),
    gateway.content.companyIds,
  )
  return devices.flatMap(({ source, content }, index) => problemsIn(source, [...content.mistakes, ...beside[index]]))
}

/** What is wrong with the routes' files by themselves. */
export function routeProblems({ routes }: Files): Problem[] {
  return routes.flatMap(({ source, content }) => problemsIn(source, content.mistakes))
}

/** Puts files without mistakes together; `now`, ms UTC, says which day is today for the warnings. */
export function assemble(files: Files, config: Config, now: number): Loaded {
  const devices = files.devices.flatMap(({ content }) => content.devices.map(({ device }) => device))
  const index = indexDevices(devices)
  const resolved = files.routes.map(({ source, content }) => ({ source, ...resolveRoutes(content, index) }))
  const routes = resolved.flatMap(({ lines }) => lines)
  const directory = createDirectory(devices, routes)
  const problems = [
    ...deviceProblems(files),
    ...files.routes.flatMap(({ source, content }, at) =>
      problemsIn(source, [...content.mistakes, ...resolved[at].mistakes]),
    ),
    ...advice({ files, routes, directory, now, zone: config.time_zone }),
  ]
  return { config, devices, routes, directory, problems, files }
}

/** Whether a problem keeps its file from taking effect. */
export function isMistake({ severity }: Problem): boolean {
  return severity === 'mistake'
}
