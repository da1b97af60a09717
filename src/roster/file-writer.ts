import { deviceProblems, type Files, isMistake, type Read, routeProblems } from '../config/files.ts'
import type { Problem } from '../config/problem.ts'
import { type RosterWrite, writeRoster } from '../lanes/index.ts'
import {
  type Comparison,
  contentsOf,
  correctSources,
  differenceOf,
  type FileContent,
  type FileVersion,
} from './file-content.ts'
import { type FileNotes, readFileNotes, versionNotes } from './file-notes.ts'
import { lossOf, lossText } from './loss.ts'
import type { Replica } from './replica.ts'
import { Roster } from './roster.ts'
import { changeOf } from './table.ts'

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

/** What files are compared with. */
interface Situation extends FileNotes {
  readonly files: Files
  readonly contents: ReadonlyMap<string, FileContent>
  /** Of all files that are or were. */
  readonly names: readonly string[]
  /** The roster's version. */
  readonly asOf: number
  /** Names of files that are refused for mistakes. */
  readonly broken: readonly string[]
}

/**
 * Writes to the roster what has changed in files: the difference of what they say and what they said when they were written
 * last. So a file that has not changed writes nothing, and does not undo what was put since.
 */
export class FileWriter {
  readonly #replica: Replica
  readonly #installation: string
  #bases: FileNotes['bases'] | undefined
  /** The roster's version as of the last comparison. */
  #position: number | undefined
  #inEffect: Files | undefined

  constructor(replica: Replica, installation: string) {
    this.#replica = replica
    this.#installation = installation
  }

  /** Writes what has changed. Rejects where Redis does not answer: call it again then. */
  async write(files: Files): Promise<FilesOutcome> {
    const replica = this.#replica
    const contents = await contentsOf(files)
    for (;;) {
      await replica.refresh()
      const asOf = replica.version
      // Redis has lost what was written, and with it what it knew of files.
      if (asOf < (this.#position ?? 0)) this.#bases = this.#position = undefined
      const notes = await readFileNotes(replica.redis, this.#installation, contents.keys())
      const bases = this.#bases ?? notes.bases
      const { mistakes, broken } = await mistakesIn(files, bases)
      const names = [...new Set([...bases.keys(), ...contents.keys()])]
      const situation = { ...notes, bases, files, contents, names, asOf, broken }
      const { comparisons, difference, loss } = await this.#withoutLoss(situation)
      if (asOf === 0 || !isEmpty(difference)) {
        const write = { ...difference, files: await this.#notesOf(comparisons, situation) }
        if ((await writeRoster(replica.redis, write, asOf)) === null) continue
        await replica.refresh()
      }
      this.#bases = new Map(comparisons.flatMap(({ name, now }) => (now ? [[name, now]] : [])))
      this.#position = replica.version
      const refused = new Set(names.filter((name) => isRefused(name, comparisons, contents)))
      this.#inEffect = {
        gateway: files.gateway,
        devices: filesInEffect(files.devices, this.#inEffect?.devices, refused),
        routes: filesInEffect(files.routes, this.#inEffect?.routes, refused),
      }
      await correctSources(replica.roster, await contentsOf(this.#inEffect))
      return {
        inEffect: this.#inEffect,
        refused: loss ? [...mistakes, loss] : mistakes,
        withLoss: loss !== undefined,
        stale: comparisons.filter((each) => isOld(each, notes)).map(({ name }) => name),
      }
    }
  }

  /** As much as takes the route from few devices: all files, without those of routes, without those of devices, none. */
  async #withoutLoss(situation: Situation) {
    const { asOf, broken, names, files } = situation
    const ofRoutes = names.filter((name) => !isOfDevices(name))
    let loss: Problem | undefined
    for (const refused of [[], ofRoutes, names.filter(isOfDevices), names]) {
      const comparisons = names.map((name) => this.#compare(name, situation, [...broken, ...refused].includes(name)))
      const difference = await differenceOf(comparisons, this.#replica.roster)
      const lost = asOf === 0 || isEmpty(difference) ? undefined : await this.#lossBy(difference, asOf)
      if (lost === undefined) return { comparisons, difference, loss }
      const changed = comparisons.filter(({ before, now }) => before?.hash !== now?.hash).map(({ name }) => name)
      const file = (refused.length === 0 && changed.find((name) => !isOfDevices(name))) || changed[0]
      loss = lossProblem(files, file, lost)
    }
    throw new Error('files that are all refused take no route')
  }

  /** Compares a file with what it said last. One that is refused, or written elsewhere, says what it said. */
  #compare(name: string, situation: Situation, isBroken: boolean): Comparison {
    const [elsewhere, now] = [situation.latest.get(name), situation.contents.get(name)]
    const before = situation.bases.get(name) ?? elsewhere
    if (isBroken) return { name, before, now: before }
    if (now && this.#isWrittenElsewhere(name, now, situation)) return { name, before: now, now }
    return { name, before, now, elsewhere }
  }

  /**
   * Whether another process has written this very version of a file: since the comparison before, or, at the first, another
   * installation at any time: an older copy must not undo what came after it.
   */
  #isWrittenElsewhere(name: string, { hash }: FileVersion, { bases, versions }: Situation): boolean {
    if (bases.get(name)?.hash === hash) return false
    const [position, own] = [this.#position, this.#installation]
    const written = versions.get(name)?.filter(([each]) => each === hash) ?? []
    return written.some(([, writer, asOf]) => (position === undefined ? writer !== own : asOf >= position))
  }

  async #lossBy(difference: RosterWrite, asOf: number): Promise<string | undefined> {
    const before = this.#replica.roster
    const after = new Roster(before)
    await after.applyInSlices(changeOf(difference, asOf + 1))
    const second = Math.floor(Date.now() / 1000)
    const loss = lossOf(before.devices(), { before, after }, { from: second, until: second + 1 })
    return loss && lossText(loss)
  }

  async #notesOf(comparisons: readonly Comparison[], { asOf, versions }: Situation) {
    const written = comparisons.filter(({ before, now }) => before?.hash !== now?.hash)
    const notes = written.map(({ name, now: version }) =>
      versionNotes(name, { version, installation: this.#installation, asOf }, versions.get(name)),
    )
    return (await Promise.all(notes)).flat()
  }
}

function isEmpty({ devices, assignments }: RosterWrite): boolean {
  return devices.length + assignments.length === 0
}

function isRefused(name: string, comparisons: readonly Comparison[], contents: Situation['contents']): boolean {
  return contents.has(name) && contents.get(name) !== comparisons.find((each) => each.name === name)?.now
}

/** Whether a later version of the file was written. */
function isOld({ name, now }: Comparison, { versions }: FileNotes): boolean {
  const hashes = (versions.get(name) ?? []).map(([hash]) => hash)
  return now !== undefined && hashes.includes(now.hash) && hashes.at(-1) !== now.hash
}

/** The files that are refused for mistakes. Files of devices are refused together, as they are read as one. */
async function mistakesIn(
  files: Files,
  bases: ReadonlyMap<string, FileVersion>,
): Promise<{ mistakes: Problem[]; broken: string[] }> {
  const ofDevices = [...(await deviceProblems(files)).filter(isMistake), ...goneProblems(files, bases)]
  const ofRoutes = routeProblems(files).filter(isMistake)
  const names = files.routes
    .map(({ source }) => source)
    .filter(({ file }) => ofRoutes.some((each) => each.file === file))
  const devices = [...bases.keys(), ...files.devices.map(({ source }) => source.name)].filter(isOfDevices)
  return {
    mistakes: [...ofDevices, ...ofRoutes],
    broken: [...(ofDevices.length > 0 ? devices : []), ...names.map(({ name }) => name)],
  }
}

/** Nobody means that no file of devices is left: every device would be refused. */
function goneProblems({ devices, gateway }: Files, bases: ReadonlyMap<string, FileVersion>): Problem[] {
  if (devices.length > 0) return []
  const gone = [...bases].filter(([name, { marks }]) => isOfDevices(name) && marks.size > 0)
  const message = 'this file is gone: its devices stay in effect'
  return gone.map(([name]) => ({ severity: 'mistake', file: pathBeside(gateway, name), message }))
}

function lossProblem({ gateway }: Files, name: string, lost: string): Problem {
  const message = `would take the route from ${lost} now: it is not in effect`
  return { severity: 'mistake', file: pathBeside(gateway, name), message }
}

/** The path of a file that may not exist. */
function pathBeside({ source: { name, file } }: Read<unknown>, other: string): string {
  return `${file.slice(0, -name.length)}${other}`
}

function filesInEffect<Content>(
  read: readonly Read<Content>[],
  before: readonly Read<Content>[] = [],
  refused: ReadonlySet<string>,
): Read<Content>[] {
  const kept = before.filter(({ source: { name } }) => refused.has(name))
  return [...read.filter(({ source: { name } }) => !refused.has(name)), ...kept]
}

function isOfDevices(name: string): boolean {
  return name.startsWith('devices.')
}
