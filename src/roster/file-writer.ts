import { dirname, join } from 'node:path'
import { deviceProblems, type Files, isMistake, type Read, routeProblems } from '../config/files.ts'
import type { Problem } from '../config/problem.ts'
import {
  contentsOf,
  correctSources,
  differenceOf,
  type FileNotes,
  type FileVersion,
  NO_FILE,
  notesWith,
  readFileNotes,
} from './file-version.ts'
import { countLines } from './puts.ts'
import type { Replica } from './replica.ts'
import { lossOf, Roster } from './roster.ts'
import { changeOf, writeRoster } from './table.ts'

/** What became of files. */
export interface FilesOutcome {
  /** The files in effect. For a refused file this is its previous version. */
  readonly inEffect: Files
  /** Why files are not in effect. */
  readonly refused: readonly Problem[]
  /** Whether a file is refused because devices would lose their routes. It is tried again: old lines may have ended by then. */
  readonly withLoss: boolean
  /** Names of files that are older copies of what another installation has written. */
  readonly stale: readonly string[]
  /** Files whose text has changed, and how many lines that changes. */
  readonly changes: ReadonlyMap<string, ReturnType<typeof countLines>>
  /** Names of the devices that have lost their route by that. */
  readonly unrouted: readonly string[]
}

/**
 * Writes to the roster what has changed in files since they were last compared. So a file that has not changed writes
 * nothing, and does not undo what was put since. Rejects if Redis does not answer: then call it again.
 * @param last the outcome of the last call
 */
export async function writeFiles(
  files: Files,
  replica: Replica,
  { installation, last }: { readonly installation: string; readonly last?: FilesOutcome },
): Promise<FilesOutcome> {
  for (;;) {
    await replica.refresh()
    const contents = await contentsOf(files)
    const asOf = replica.version
    const known = await readFileNotes(replica.redis, installation, contents)
    const { mistakes, broken } = await mistakesIn(files, known)
    const { comparisons, difference, loss, unrouted } = await withoutLoss(files, replica, (isRefused) =>
      known.map((each) => {
        const isKept = broken.includes(each.name) || isRefused(each.name)
        return compare(each, isKept ? each.before : (contents.get(each.name) ?? NO_FILE))
      }),
    )
    const notes = comparisons.map(async (each) =>
      each.isChanged ? notesWith(each, [each.now.hash, installation, asOf, each.isWritten], each.now) : [],
    )
    const write = { ...difference, files: (await Promise.all(notes)).flat() }
    if ((await writeRoster(replica.redis, write, asOf)) === null) continue
    await replica.refresh()
    const refused = comparisons.filter(({ name, now }) => contents.has(name) && contents.get(name) !== now)
    const isRefused = ({ source }: Read<unknown>) => refused.some(({ name }) => name === source.name)
    const effective = <Content>(read: readonly Read<Content>[], before: readonly Read<Content>[] = []) => [
      ...read.filter((file) => !isRefused(file)),
      ...before.filter(isRefused),
    ]
    const { gateway, devices, routes } = files
    const inEffect = {
      gateway,
      devices: effective(devices, last?.inEffect.devices),
      routes: effective(routes, last?.inEffect.routes),
    }
    for (const { name, now } of comparisons) await correctSources(replica.roster, name, now)
    return {
      inEffect,
      refused: loss ? [...mistakes, loss] : mistakes,
      withLoss: loss !== undefined,
      stale: comparisons.filter(isStale).map(({ name }) => name),
      changes: new Map(comparisons.filter(({ isChanged }) => isChanged).map((each) => [each.name, changesOf(each)])),
      unrouted,
    }
  }
}

/**
 * As much as takes the route from few devices: all files, without those of routes, without those of devices, none.
 * @param compareAll compares files, without those that are refused
 */
async function withoutLoss(
  files: Files,
  replica: Replica,
  compareAll: (isRefused: (name: string) => boolean) => readonly Comparison[],
) {
  let loss: Problem | undefined
  for (const isRefused of [() => false, (name: string) => !isOfDevices(name), isOfDevices, () => true]) {
    const comparisons = compareAll(isRefused)
    const difference = await differenceOf(comparisons, replica.roster)
    const { lost, unrouted } = await lossBy(difference, replica)
    if (lost === undefined) return { comparisons, difference, loss, unrouted }
    const changed = comparisons.filter(({ isChanged }) => isChanged).map(({ name }) => name)
    const file = (!loss && changed.find((name) => !isOfDevices(name))) || changed[0]
    loss = problemOf(files, file, `would take the route from ${lost} now: it is not in effect`)
  }
  throw new Error('files that are all refused take no route')
}

type Comparison = ReturnType<typeof compare>

/**
 * The previous and the present version of a file. They are equal if the file is refused, or if another process has
 * written this very version since the last comparison (before the first comparison: at any time), because an older copy
 * must not undo what came after it. `isChanged`: it differs from what this installation has noted; `isWritten`: and
 * that difference is written now.
 */
function compare(known: FileNotes, now: FileVersion) {
  const [noted, , position] = known.own ?? ['', '', 0]
  const isChanged = now.hash !== noted
  const isKnown = isChanged && known.notes.some((note) => note[0] === now.hash && note[2] >= position && note[3])
  const before = isKnown ? now : known.before
  return { ...known, before, now, isChanged, isWritten: isChanged && now !== before }
}

/** Whether another version of the file was written last. */
function isStale({ isWritten, notes, now }: Comparison): boolean {
  const last = notes.findLast((note) => note[3])
  return !isWritten && last !== undefined && last[0] !== now.hash
}

async function lossBy(
  difference: Awaited<ReturnType<typeof differenceOf>>,
  { roster: before, version }: Replica,
): Promise<{ readonly lost?: string; readonly unrouted: readonly string[] }> {
  if (version === 0 || difference.devices.length + difference.assignments.length === 0) return { unrouted: [] }
  const after = new Roster(before)
  await after.applyInSlices(changeOf(difference, version + 1))
  const second = Math.floor(Date.now() / 1000)
  const moment = { from: second, until: second + 1 }
  const unrouted = before.devices().filter(({ id }) => before.isRouted(id, moment) && !after.isRouted(id, moment))
  return {
    lost: lossOf(before.devices(), { before, after }, moment),
    unrouted: Array.from(unrouted, ({ id, name = id }) => name),
  }
}

/** How many of its lines a file changes; a line of an unknown device counts, and waits for it. */
function changesOf({ before, now }: Pick<Comparison, 'before' | 'now'>): ReturnType<typeof countLines> {
  return countLines(linesBeside(now, before), linesBeside(before, now))
}

/** The lines of a version that another one does not have. */
function linesBeside({ items }: FileVersion, other: FileVersion): Iterable<string> {
  const lines = items.keys().filter((key) => key.startsWith('a ') && !other.items.has(key))
  return lines.map((key) => key.slice(2))
}

/** The files that are refused for mistakes. Files of devices are refused together, as they are read as one. */
async function mistakesIn(files: Files, known: readonly FileNotes[]) {
  const isGone = ({ name, before }: FileNotes) => isOfDevices(name) && before.items.size > 0
  // If all files of devices are gone, that is a mistake: every device would be refused.
  const gone = files.devices.length > 0 ? [] : known.filter(isGone)
  const ofDevices = [
    ...(await deviceProblems(files)).filter(isMistake),
    ...gone.map(({ name }) => problemOf(files, name, 'this file is gone: its devices stay in effect')),
  ]
  const ofRoutes = routeProblems(files).filter(isMistake)
  const routes = files.routes.filter(({ source }) => ofRoutes.some(({ file }) => file === source.file))
  const devices = ofDevices.length > 0 ? known.map(({ name }) => name).filter(isOfDevices) : []
  return { mistakes: [...ofDevices, ...ofRoutes], broken: [...devices, ...routes.map(({ source }) => source.name)] }
}

/** A file that may not exist is beside gateway.yaml. */
function problemOf({ gateway }: Files, name: string, message: string): Problem {
  return { severity: 'mistake', file: join(dirname(gateway.source.file), name), message }
}

function isOfDevices(name: string): boolean {
  return name.startsWith('devices.')
}
