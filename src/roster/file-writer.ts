import { dirname, join } from 'node:path'
import { type Files, isMistake, type Read } from '../config/files.ts'
import type { Problem } from '../config/problem.ts'
import type { Config } from '../config/schema.ts'
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
import { offersOf, redeliverAgreed } from './offers.ts'
import { countLines } from './puts.ts'
import { planRedelivery } from './redelivery.ts'
import type { Replica } from './replica.ts'
import { effectOf, lossOf } from './roster.ts'
import { writeRoster } from './table.ts'
import { say, type Text } from '../texts/text.ts'

/** Result of writing the files of devices and routes. */
export interface FilesOutcome {
  /** The files in effect. For a refused file this is its previous version. */
  readonly inEffect: Files
  /** Why files are not in effect. */
  readonly refused: readonly Problem[]
  /** Whether a file is refused because devices would lose their routes. It is retried, because old lines end. */
  readonly withLoss: boolean
  /** Names of files that are older copies of what another installation has written. */
  readonly stale: readonly string[]
  /** Files whose text has changed, and how many lines that changes. */
  readonly changes: ReadonlyMap<string, ReturnType<typeof countLines>>
  /** Names of the devices that have lost their route by that. */
  readonly unrouted: readonly string[]
}

/**
 * Writes to the roster what has changed in files since the last comparison. So an unchanged file writes nothing, and does not
 * undo later puts. Rejects if Redis does not answer: then call it again. @param last the outcome of the last call @param
 * config the configuration at the start of the process
 */
export async function writeFiles(
  files: Files,
  replica: Replica,
  {
    installation,
    last,
    config,
  }: { readonly installation: string; readonly last?: FilesOutcome; readonly config: Pick<Config, 'keep' | 'roster'> },
): Promise<FilesOutcome> {
  const contents = await contentsOf(files)
  for (;;) {
    await replica.refresh()
    const asOf = replica.version
    const known = await readFileNotes(replica.redis, installation, contents)
    const { comparisons, difference, after, concerned, ...losses } = await planned(files, { contents, known, replica })
    const redelivery = await planRedelivery(replica.redis, {
      before: replica.roster,
      after,
      devices: concerned,
      keepMs: config.keep.delivered,
    })
    const changed = comparisons.filter(({ isChanged }) => isChanged)
    const notes = changed.map((each) => notesWith(each, [each.now.hash, installation, asOf, each.isWritten], each.now))
    const writer = changed.map(({ name }) => name).join(', ')
    const offers = offersOf(redelivery, { asOf, decision: config.roster.redeliver, writer })
    const write = { ...difference, files: (await Promise.all(notes)).flat(), offers }
    const version = await writeRoster(replica.redis, write, asOf)
    if (version === null) continue
    await replica.refresh()
    // Redis has lost it again.
    if (replica.version < version) continue
    await redeliverAgreed(replica.redis)
    for (const { name, now } of comparisons) await correctSources(replica.roster, name, now)
    const refused = comparisons.flatMap(({ name, now }) =>
      contents.has(name) && contents.get(name) !== now ? [name] : [],
    )
    const effective = <Content>(read: readonly Read<Content>[], before: readonly Read<Content>[] = []) => [
      ...read.filter(({ source }) => !refused.includes(source.name)),
      ...before.filter(({ source }) => refused.includes(source.name)),
    ]
    return {
      ...losses,
      inEffect: {
        ...files,
        devices: effective(files.devices, last?.inEffect.devices),
        routes: effective(files.routes, last?.inEffect.routes),
      },
      stale: comparisons.filter(isStale).map(({ name }) => name),
      changes: new Map(changed.map(({ name, before, now }) => [name, countLines(linesOf(before), linesOf(now))])),
    }
  }
}

/**
 * Returns which files to write so that few devices lose their route: all files, all without those of routes, all without
 * those of devices, or none.
 */
async function planned(
  files: Files,
  { contents, known, replica }: { contents: ReadonlyMap<string, FileVersion>; known: FileNotes[]; replica: Replica },
) {
  const { mistakes, isBroken } = mistakesIn(files, known)
  const second = Math.floor(Date.now() / 1000)
  const moment = { from: second, until: second + 1 }
  let loss: Problem | undefined
  for (const isLeftOut of [() => false, (name: string) => !isOfDevices(name), isOfDevices, () => true]) {
    const comparisons = known.map((each) => {
      const isRefused = isBroken(each.name) || isLeftOut(each.name)
      return compare(each, isRefused ? each.before : (contents.get(each.name) ?? NO_FILE))
    })
    const difference = await differenceOf(comparisons, replica.roster)
    const { after, concerned, losing } = await effectOf(difference, replica.roster, moment)
    const lost = lossOf(losing.length, replica.roster.devices(), moment)
    const refused = loss ? [...mistakes, loss] : mistakes
    const unrouted = losing.map(({ id, name = id }) => name)
    if (lost === undefined)
      return { comparisons, difference, after, concerned, refused, withLoss: loss !== undefined, unrouted }
    const changed = comparisons.filter(({ isChanged }) => isChanged).map(({ name }) => name)
    const name = (!loss && changed.find((each) => !isOfDevices(each))) || changed[0]
    loss = problemOf(files, name, say('would take the route from {} now: it is not in effect', lost))
  }
  throw new Error('files that are all refused take no route')
}

type Comparison = ReturnType<typeof compare>

/**
 * Returns the previous and the present version of a file. They are equal if the file is refused, or if another process has
 * written this very version since the last comparison (before the first comparison: at any time), because an older copy must
 * not undo later changes. `isChanged`: it differs from the notes of this installation; `isWritten`: the difference is written
 * now.
 */
function compare(known: FileNotes, now: FileVersion) {
  const [noted, , position] = known.own ?? ['', '', 0]
  const isChanged = now.hash !== noted
  const isKnown =
    isChanged && known.notes.some(([hash, , asOf, isWritten]) => hash === now.hash && asOf >= position && isWritten)
  const before = isKnown ? now : known.before
  return { ...known, before, now, isChanged, isWritten: isChanged && now !== before }
}

/** Whether another version of the file was written last. */
function isStale({ isWritten, notes, now }: Comparison): boolean {
  const last = notes.findLast((note) => note[3])
  return !isWritten && last !== undefined && last[0] !== now.hash
}

/** Returns the fields of a version's lines. A line of an unknown device counts, and waits for the device. */
function linesOf({ items }: FileVersion): Iterable<string> {
  return items.keys().flatMap((key) => (key.startsWith('a ') ? [key.slice(2)] : []))
}

/** Returns the mistakes in files, and the refused files. Files of devices are refused together, because they are read as one. */
function mistakesIn(files: Files, known: readonly FileNotes[]) {
  const [inDevices, ofRoutes] = [files.devices, files.routes].map((read) =>
    read.flatMap(({ problems }) => problems.filter(isMistake)),
  )
  // If all files of devices are gone, that is a mistake: every device would be refused.
  const gone = known.filter(
    ({ name, before }) => isOfDevices(name) && files.devices.length === 0 && before.items.size > 0,
  )
  const ofDevices = [
    ...inDevices,
    ...gone.map(({ name }) => problemOf(files, name, say('this file is gone: its devices stay in effect'))),
  ]
  const isBroken = (name: string) =>
    isOfDevices(name) ? ofDevices.length > 0 : ofRoutes.some(({ file }) => file === pathOf(files, name))
  return { mistakes: [...ofDevices, ...ofRoutes], isBroken }
}

function problemOf(files: Files, name: string, message: Text): Problem {
  return { severity: 'mistake', file: pathOf(files, name), message }
}

/** Where a file is, or was: beside gateway.yaml. */
function pathOf({ gateway }: Files, name: string): string {
  return join(dirname(gateway.source.file), name)
}

function isOfDevices(name: string): boolean {
  return name.startsWith('devices.')
}
