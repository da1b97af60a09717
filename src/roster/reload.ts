import type { Problem } from '../config/problem.ts'
import type { Config } from '../config/schema.ts'
import type { Directory } from './directory.ts'
import { type Edits, type FileWrites, writesBetween } from './edits.ts'
import { areSame, type Files } from './files.ts'
import { assemble, deviceProblems, gatewayProblems, isMistake, type Loaded, problemsOf, routeProblems } from './load.ts'
import { isRouted, lossOf, lossText } from './loss.ts'

/** What became of a change of the configuration's files. */
export interface Change {
  /** What is in effect now. */
  readonly loaded: Loaded
  /** What is on disk now; undefined where it could not be read. */
  readonly read?: Files
  /** Why something of what is on disk is not in effect: all mistakes; empty where everything is. */
  readonly refused: readonly Problem[]
  /** Routes that were refused for what they would take away now, in effect: later, when old lines have ended, they may not. */
  readonly withLoss?: Directory
  /** Settings of gateway.yaml that are different on disk, and take effect at the next start: `batch.max_wait`. */
  readonly atNextStart: readonly string[]
  /** What files have written to devices and routes by this. */
  readonly writes: FileWrites
}

/**
 * What takes effect of files that were read while a configuration is in effect: companies, devices and routes, each where
 * it is right and goes with the others, else what was in effect of it. `now`: ms UTC.
 */
export async function changeTo(read: Files, running: Loaded, now: number): Promise<Change> {
  const old = running.files
  const fleet = await fleetInEffect(read, old)
  const refused = [...gatewayProblems(read), ...fleet.refused, ...routeProblems(read)].filter(isMistake)
  const { companies } = fleet.gateway.content.config ?? running.config
  const withRoutes = async (routes: Files['routes']) => {
    const files = { gateway: fleet.gateway, devices: fleet.devices, routes }
    const config = { ...running.config, companies }
    return assemble({ files, problems: await problemsOf(files), config, edits: running.edits, now })
  }
  const changed = async (loaded: Loaded, withLoss?: Directory): Promise<Change> => {
    return { loaded, read, refused, withLoss, atNextStart, writes: await writesBetween(old, loaded.files) }
  }

  const usable = !routeProblems(read).some(isMistake)
  const loaded = await withRoutes(usable ? read.routes : old.routes)
  const atNextStart = settingsThatDiffer(running.config, read.gateway.content.config)
  const loss = usable && !areSame(read.routes, old.routes) && lossOfRoutes(running.directory, loaded.directory, now)
  if (!loss) return changed(loaded)
  refused.push({ severity: 'mistake', file: changedFile(read.routes, old.routes), message: loss })
  return changed(await withRoutes(old.routes), loaded.directory)
}

/** What is in effect before the files have been looked at. */
export function unread(loaded: Loaded): Change {
  return { loaded, refused: [], atNextStart: [], writes: NO_WRITES }
}

/** What is in effect stays, where the files cannot be read, for these mistakes. */
export function unreadable(loaded: Loaded, refused: readonly Problem[]): Change {
  return { ...unread(loaded), refused }
}

/** What is in effect, with other edits. */
export async function withEdits({ files, config }: Loaded, edits: Edits): Promise<Loaded> {
  return assemble({ files, problems: await problemsOf(files), config, edits, now: Date.now() })
}

const NO_WRITES: FileWrites = { written: [], gone: [] }

type Fleet = Pick<Files, 'gateway' | 'devices'>

/** Companies and devices that go together: of what was read as much as possible. */
async function fleetInEffect(read: Files, old: Files): Promise<Fleet & { refused: Problem[] }> {
  if (read.gateway === old.gateway && areSame(read.devices, old.devices)) return { ...old, refused: [] }
  const gateway = read.gateway.content.config ? read.gateway : old.gateway
  const refused = await fleetProblems({ ...read, gateway }, old)
  if (refused.length === 0) return { gateway, devices: read.devices, refused }
  const candidates = [
    { gateway, devices: old.devices },
    { gateway: old.gateway, devices: read.devices },
  ]
  for (const fleet of candidates)
    if ((await fleetProblems({ ...read, ...fleet }, old)).length === 0) return { ...fleet, refused }
  return { ...old, refused }
}

/** Also where no file of devices is left: nobody means that, and every device would be refused. */
async function fleetProblems(files: Files, old: Files): Promise<Problem[]> {
  const mistakes = (await deviceProblems(files)).filter(isMistake)
  const gone = files.devices.length === 0 ? old.devices.filter(({ content }) => content.devices.length > 0) : []
  const message = 'this file is gone: its devices stay in effect'
  return [...mistakes, ...gone.map(({ source: { file } }) => ({ severity: 'mistake' as const, file, message }))]
}

/** A sentence, where more than half of the devices that have a route now would have none. `now`: ms UTC. */
export function lossOfRoutes(before: Directory, after: Directory, now: number): string | undefined {
  const second = Math.floor(now / 1000)
  const moment = { from: second, until: second + 1 }
  const loss = lossOf(after.devices(), isRouted(before, moment), isRouted(after, moment))
  if (!loss) return undefined
  return `would take the route from ${lossText(loss)} now: the routes of before stay in effect`
}

function changedFile(read: Files['routes'], old: Files['routes']): string {
  const changed = old.find((file) => !read.includes(file)) ?? read.find((file) => !old.includes(file))
  return changed?.source.file ?? ''
}

function settingsThatDiffer(running: Config, read: Config | undefined): string[] {
  if (!read) return []
  return Object.entries(running).flatMap(([section, value]) => {
    const other: unknown = read[section as keyof Config]
    if (section === 'companies' || JSON.stringify(value) === JSON.stringify(other)) return []
    if (typeof value !== 'object' || Array.isArray(value)) return [section]
    return Object.entries(value)
      .filter(([key, setting]) => JSON.stringify(setting) !== JSON.stringify((other as Record<string, unknown>)[key]))
      .map(([key]) => `${section}.${key}`)
  })
}
