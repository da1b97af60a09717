import { deviceProblems, type Files, isMistake, type Read, routeProblems } from '../config/files.ts'
import type { Problem } from '../config/problem.ts'
import { contentsOf, correctSources, differenceOf, type FileVersion } from './file-content.ts'
import { type FileNotes, notesWith, readFileNotes } from './file-notes.ts'
import { lossOf } from './loss.ts'
import type { Replica } from './replica.ts'
import { Roster } from './roster.ts'
import { changeOf, writeRoster } from './table.ts'

/** What became of files. */
export interface FilesOutcome {
  /** The files in effect: in place of one that is refused the version before. */
  readonly inEffect: Files
  /** Why files are not in effect. */
  readonly refused: readonly Problem[]
  /** Whether a file is refused because devices would lose their routes. It is tried again: old lines may have ended by then. */
  readonly withLoss: boolean
  /** Names of files that are older copies of what another installation has written. */
  readonly stale: readonly string[]
}

/** What a file said before, and what it says now: the same where it is refused, or written already. */
interface Comparison extends FileNotes {
  readonly now?: FileVersion
}

/**
 * Writes to the roster what has changed in files: the difference of what they say and what they said when they were compared
 * last. So a file that has not changed writes nothing, and does not undo what was put since. Rejects where Redis does not
 * answer: call it again then.
 * @param last what became of them last
 */
export async function writeFiles(
  files: Files,
  replica: Replica,
  { installation, last }: { readonly installation: string; readonly last?: FilesOutcome },
): Promise<FilesOutcome> {
  const contents = await contentsOf(files)
  for (;;) {
    await replica.refresh()
    const asOf = replica.version
    const known = await readFileNotes(replica.redis, installation, contents)
    const { mistakes, broken } = await mistakesIn(files, known)
    const { comparisons, difference, loss } = await withoutLoss(known, replica, { files, contents, broken })
    const notes = comparisons
      .filter(isChanged)
      .map((each) => notesWith(each, [hashOf(each), installation, asOf, isWritten(each)], each.now))
    const write = { ...difference, files: (await Promise.all(notes)).flat() }
    if ((await writeRoster(replica.redis, write, asOf)) === null) continue
    await replica.refresh()
    const refused = comparisons.filter(({ name, now }) => contents.has(name) && contents.get(name) !== now)
    const isRefused = ({ source }: Read<unknown>) => refused.some(({ name }) => name === source.name)
    const inEffect = {
      gateway: files.gateway,
      devices: [
        ...files.devices.filter((file) => !isRefused(file)),
        ...(last?.inEffect.devices ?? []).filter(isRefused),
      ],
      routes: [...files.routes.filter((file) => !isRefused(file)), ...(last?.inEffect.routes ?? []).filter(isRefused)],
    }
    await correctSources(replica.roster, await contentsOf(inEffect))
    return {
      inEffect,
      refused: loss ? [...mistakes, loss] : mistakes,
      withLoss: loss !== undefined,
      stale: comparisons.filter(isStale).map(({ name }) => name),
    }
  }
}

interface Contents {
  readonly files: Files
  readonly contents: ReadonlyMap<string, FileVersion>
  /** Names of files that are refused for mistakes. */
  readonly broken: readonly string[]
}

/** As much as takes the route from few devices: all files, without those of routes, without those of devices, none. */
async function withoutLoss(known: readonly FileNotes[], replica: Replica, { files, contents, broken }: Contents) {
  const names = known.map(({ name }) => name)
  const ofRoutes = names.filter((name) => !isOfDevices(name))
  let loss: Problem | undefined
  for (const refused of [[], ofRoutes, names.filter(isOfDevices), names]) {
    const unchanged = new Set([...broken, ...refused])
    const comparisons = known.map((each) =>
      compare(each, unchanged.has(each.name) ? each.before : contents.get(each.name)),
    )
    const difference = await differenceOf(comparisons, replica.roster)
    const lost = await lossBy(difference, replica)
    if (lost === undefined) return { comparisons, difference, loss }
    const changed = comparisons.filter(isChanged).map(({ name }) => name)
    const file = (refused.length === 0 && changed.find((name) => !isOfDevices(name))) || changed[0]
    const message = `would take the route from ${lost} now: it is not in effect`
    loss = { severity: 'mistake', file: pathBeside(files.gateway, file), message }
  }
  throw new Error('files that are all refused take no route')
}

/**
 * Where another process has written this very version since the last comparison, or at any time before the first one, it says
 * nothing new: an older copy must not undo what came after it.
 */
function compare(known: FileNotes, now: FileVersion | undefined): Comparison {
  const [hash, , position] = known.own ?? ['', '', 0]
  const isKnown = now !== undefined && now.hash !== hash
  const isWrittenElsewhere =
    isKnown && known.notes.some((note) => note[0] === now.hash && note[2] >= position && note[3])
  return isWrittenElsewhere ? { ...known, before: now, now } : { ...known, now }
}

async function lossBy(
  difference: Awaited<ReturnType<typeof differenceOf>>,
  { roster: before, version }: Replica,
): Promise<string | undefined> {
  if (version === 0 || difference.devices.length + difference.assignments.length === 0) return undefined
  const after = new Roster(before)
  await after.applyInSlices(changeOf(difference, version + 1))
  const second = Math.floor(Date.now() / 1000)
  return lossOf(before.devices(), { before, after }, { from: second, until: second + 1 })
}

function hashOf({ now }: Comparison): string {
  return now?.hash ?? ''
}

/** Whether a file says something else than this installation has noted. */
function isChanged(comparison: Comparison): boolean {
  return (comparison.own?.[0] ?? '') !== hashOf(comparison)
}

/** Whether what a file says is written by this comparison. */
function isWritten(comparison: Comparison): boolean {
  return isChanged(comparison) && comparison.now !== comparison.before
}

/** Whether another version of the file was written last. */
function isStale(comparison: Comparison): boolean {
  const written = comparison.notes.findLast((note) => note[3])
  return !isWritten(comparison) && written !== undefined && written[0] !== hashOf(comparison)
}

/** The files that are refused for mistakes. Files of devices are refused together, as they are read as one. */
async function mistakesIn(
  files: Files,
  known: readonly FileNotes[],
): Promise<{ mistakes: Problem[]; broken: string[] }> {
  const ofDevices = [...(await deviceProblems(files)).filter(isMistake), ...goneProblems(files, known)]
  const ofRoutes = routeProblems(files).filter(isMistake)
  const routes = files.routes.filter(({ source }) => ofRoutes.some(({ file }) => file === source.file))
  const devices = ofDevices.length > 0 ? known.map(({ name }) => name).filter(isOfDevices) : []
  return { mistakes: [...ofDevices, ...ofRoutes], broken: [...devices, ...routes.map(({ source }) => source.name)] }
}

/** Nobody means that no file of devices is left: every device would be refused. */
function goneProblems({ devices, gateway }: Files, known: readonly FileNotes[]): Problem[] {
  if (devices.length > 0) return []
  const gone = known.filter(({ name, before }) => isOfDevices(name) && (before?.items.size ?? 0) > 0)
  const message = 'this file is gone: its devices stay in effect'
  return gone.map(({ name }) => ({ severity: 'mistake', file: pathBeside(gateway, name), message }))
}

/** The path of a file that may not exist. */
function pathBeside({ source: { name, file } }: Read<unknown>, other: string): string {
  return `${file.slice(0, -name.length)}${other}`
}

function isOfDevices(name: string): boolean {
  return name.startsWith('devices.')
}
