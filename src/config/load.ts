import { advice } from './advice.ts'
import { createDirectoryInSlices, type Device, type Directory, type RouteLine } from './directory.ts'
import { type Edits, editSource, lineKey, NO_EDITS, withDeviceEdits } from './edits.ts'
import { type Files, readFiles } from './files.ts'
import { fleetMistakes } from './fleet.ts'
import { giveWay } from './give-way.ts'
import { ConfigError, type Problem, problemsIn } from './problem.ts'
import { type DeviceIndex, indexDevices, resolveRoutes, type RouteRow } from './routes.ts'
import type { Config, Protocols } from './schema.ts'

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

/** Puts files without mistakes together: looks up the devices of route lines, and finds what only shows then. */
export async function assemble({ files, problems, config, edits = NO_EDITS, now }: Parts): Promise<Loaded> {
  const devices = withDeviceEdits(devicesIn(files), edits)
  const index = indexDevices(devices)
  const resolving = files.routes.map(async ({ source, content: { name, rows } }) => {
    const originOf = (row: RouteRow) => ({ source: `${name}:${row.line}`, writtenAt: writtenAt(row, edits) })
    return { source, ...(await resolveRoutes(rows, index, originOf)) }
  })
  const resolved = await Promise.all(resolving)
  const routes = await withRouteEdits(
    resolved.flatMap(({ lines }) => lines),
    index,
    edits,
  )
  const directory = await createDirectoryInSlices(devices, routes)
  await giveWay()
  const found = [
    ...resolved.flatMap(({ source, mistakes }) => problemsIn(source, mistakes)),
    ...advice({ files, routes, directory, now, zone: config.time_zone }),
  ]
  return { config, devices, routes, directory, problems: inOrder([...problems, ...found]), files, edits }
}

/** When a line of a file was written, where that is after some edit. */
function writtenAt(row: RouteRow, { files }: Edits): number | undefined {
  return files.size === 0 ? undefined : files.get(lineKey(row))
}

/** The devices of files, without what was written through the admin port. */
export function devicesIn({ devices }: Pick<Files, 'devices'>): readonly Device[] {
  return devices.flatMap(({ content }) => content.devices.map(({ device }) => device))
}

/** Lines of files with what was put in place of some of them; an edit's own devices are looked up anew, as a file's are. */
async function withRouteEdits(
  ofFiles: readonly RouteLine[],
  index: DeviceIndex,
  { routes }: Edits,
): Promise<readonly RouteLine[]> {
  let lines = ofFiles
  for (const { at, company_id, from, until, rows } of routes) {
    await giveWay()
    const isOfCompany = ({ device }: RouteLine) => index(device)[0]?.company_id === company_id
    const isReplaced = (line: RouteLine) =>
      line.from >= from && line.from < until && (line.writtenAt ?? 0) < at && isOfCompany(line)
    const origin = { source: editSource(at), writtenAt: at, edited: true }
    const put = await resolveRoutes(rows, index, () => origin)
    lines = [...lines.filter((line) => !isReplaced(line)), ...put.lines.filter(isOfCompany)]
  }
  return lines
}

function inOrder(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : (a.line ?? 0) - (b.line ?? 0)))
}

/** Whether a problem keeps its file from taking effect. */
export function isMistake({ severity }: Problem): boolean {
  return severity === 'mistake'
}
