import { deviceProblems, type Files, isMistake, type Read, routeProblems } from '../config/files.ts'
import type { Problem } from '../config/problem.ts'
import type { RosterWrite } from '../lanes/index.ts'
import {
  type Comparison,
  contentsOf,
  correctSources,
  differenceOf,
  type FileContent,
  type FileVersion,
} from './file-content.ts'
import { type FileNotes, versionNotes } from './file-notes.ts'
import { lossOf, lossText } from './loss.ts'
import { Roster } from './roster.ts'
import { changeOf } from './table.ts'

/** The roster that files are written to. */
export interface RosterStore {
  readonly roster: Roster
  readonly version: number
  /** Reads what is known of the files with these names, and of all others that this installation has written. */
  notes(names: Iterable<string>): Promise<FileNotes>
  /** Brings into effect what others have written. */
  refresh(): Promise<void>
  /** @returns whether it is written, and in effect: not where there was another write since the version `asOf`. */
  write(write: RosterWrite, asOf: number): Promise<boolean>
}

/** What became of files. */
export interface FilesOutcome {
  /** The files in effect: in place of one that is refused the version before. */
  readonly inEffect: Files
  /** Why files are not in effect. */
  readonly refused: readonly Problem[]
  /** Whether one is refused as devices would lose their routes: later, when old lines have ended, they may not. */
  readonly withLoss: boolean
  /** Names of files that are older copies of what another installation has written. */
  readonly stale: readonly string[]
}

/** An outcome that is not written yet. */
interface Plan {
  readonly outcome: FilesOutcome
  readonly bases: ReadonlyMap<string, FileVersion>
  /** Undefined where there is nothing to write. */
  readonly write?: RosterWrite
}

/** What files are compared with. */
interface Situation extends FileNotes {
  readonly files: Files
  readonly contents: ReadonlyMap<string, FileContent>
  /** The roster's version now, and as of the comparison before; undefined at the first. */
  readonly asOf: number
  readonly position: number | undefined
  readonly mistakes: readonly Problem[]
  /** Names of files that are refused for mistakes. */
  readonly broken: readonly string[]
}

/**
 * Writes to the roster what has changed in files: the difference of what they say and what they said when they were written
 * last. So a file that has not changed writes nothing, and does not undo what was put since.
 */
export class FileWriter {
  readonly #store: RosterStore
  readonly #installation: string
  #bases: ReadonlyMap<string, FileVersion> | undefined
  #position: number | undefined
  #inEffect: Files | undefined

  constructor(store: RosterStore, installation: string) {
    this.#store = store
    this.#installation = installation
  }

  /** The files in effect; undefined before the first comparison. */
  get inEffect(): Files | undefined {
    return this.#inEffect
  }

  /** Writes what has changed. Rejects where Redis does not answer: call it again then. */
  async write(files: Files): Promise<FilesOutcome> {
    for (;;) {
      await this.#store.refresh()
      const { version } = this.#store
      // Redis has lost what was written, and with it what it knew of files.
      if (version < (this.#position ?? 0)) this.#bases = this.#position = undefined
      const situation = await this.#situation(files, version)
      const names = [...new Set([...situation.bases.keys(), ...situation.contents.keys()])]
      const routes = names.filter((name) => !isOfDevices(name))
      // As much as possible takes effect: all, without the routes' files, without the devices' files.
      const { outcome, bases, write } = await this.#plan(situation, [[], routes, names.filter(isOfDevices), names])
      if (write && !(await this.#store.write(write, version))) continue
      this.#bases = bases
      this.#position = this.#store.version
      this.#inEffect = outcome.inEffect
      await correctSources(this.#store.roster, await contentsOf(outcome.inEffect))
      return outcome
    }
  }

  async #situation(files: Files, asOf: number): Promise<Situation> {
    const contents = await contentsOf(files)
    const notes = await this.#store.notes(contents.keys())
    const bases = this.#bases ?? notes.bases
    return { ...notes, bases, files, contents, asOf, position: this.#position, ...(await mistakesIn(files, bases)) }
  }

  /** The plan by which no loss is left, with the first of `candidates` that does: names of files that are refused. */
  async #plan(situation: Situation, candidates: readonly (readonly string[])[], problem?: Problem): Promise<Plan> {
    const { asOf, broken } = situation
    const [refused, ...others] = candidates
    const comparisons = this.#comparisons(situation, new Set([...broken, ...refused]))
    const difference = await differenceOf(comparisons, this.#store.roster)
    const isEmpty = difference.devices.length + difference.assignments.length === 0
    const loss = asOf === 0 || isEmpty ? undefined : await this.#lossBy(difference, asOf)
    if (loss !== undefined && others.length > 0) {
      const changed = comparisons.filter(({ before, now }) => before?.hash !== now?.hash).map(({ name }) => name)
      const file = changed.find((name) => others[0].includes(name)) ?? changed[0]
      return this.#plan(situation, others, lossProblem(situation.files, file, loss))
    }
    return {
      outcome: this.#outcome(situation, comparisons, problem),
      bases: new Map(comparisons.flatMap(({ name, now }) => (now ? [[name, now]] : []))),
      write: isEmpty && asOf > 0 ? undefined : { ...difference, files: await this.#notesOf(comparisons, situation) },
    }
  }

  /** Compares each file with what it said last. One that is refused, or written elsewhere, says what it said. */
  #comparisons(situation: Situation, refused: ReadonlySet<string>): Comparison[] {
    const { bases, contents, latest } = situation
    return Array.from(new Set([...bases.keys(), ...contents.keys()]), (name): Comparison => {
      const [before, now] = [bases.get(name) ?? latest.get(name), contents.get(name)]
      if (refused.has(name)) return { name, before, now: before }
      if (now && this.#isWrittenElsewhere(name, now, situation)) return { name, before: now, now }
      return { name, before, now, elsewhere: latest.get(name) }
    })
  }

  /**
   * Whether another process has written this very version of a file: since the comparison before, or, at the first, at any
   * time, if it is of another installation: an older copy must not undo what came after it.
   */
  #isWrittenElsewhere(name: string, { hash }: FileVersion, { bases, versions, position }: Situation): boolean {
    if (bases.get(name)?.hash === hash) return false
    const all = versions.get(name) ?? []
    const own = all.findLast(([, installation]) => installation === this.#installation)
    const since = position ?? (own ? own[2] + 1 : 0)
    return all.some(
      ([written, installation, asOf]) =>
        written === hash && (asOf >= since || (position === undefined && installation !== this.#installation)),
    )
  }

  async #lossBy(difference: RosterWrite, asOf: number): Promise<string | undefined> {
    const before = this.#store.roster
    const after = new Roster(before)
    await after.applyInSlices(changeOf(difference, asOf + 1))
    const second = Math.floor(Date.now() / 1000)
    const loss = lossOf(before.devices(), { before, after }, { from: second, until: second + 1 })
    return loss && lossText(loss)
  }

  async #notesOf(comparisons: readonly Comparison[], { asOf, versions }: Situation) {
    const written = comparisons.filter(({ before, now }) => !isSameVersion(before, now))
    const notes = written.map(({ name, now: version }) =>
      versionNotes(name, { version, installation: this.#installation, asOf }, versions.get(name)),
    )
    return (await Promise.all(notes)).flat()
  }

  #outcome(situation: Situation, comparisons: readonly Comparison[], problem?: Problem): FilesOutcome {
    const { files, contents, mistakes, versions } = situation
    const isRefused = ({ name, now }: Comparison) => contents.has(name) && contents.get(name) !== now
    const refused = new Set(comparisons.filter(isRefused).map(({ name }) => name))
    const isOld = ({ name, now }: Comparison) => {
      const hashes = (versions.get(name) ?? []).map(([hash]) => hash)
      return now !== undefined && hashes.includes(now.hash) && hashes.at(-1) !== now.hash
    }
    return {
      inEffect: {
        gateway: files.gateway,
        devices: filesInEffect(files.devices, this.#inEffect?.devices, refused),
        routes: filesInEffect(files.routes, this.#inEffect?.routes, refused),
      },
      refused: problem ? [...mistakes, problem] : mistakes,
      withLoss: problem !== undefined,
      stale: comparisons.filter(isOld).map(({ name }) => name),
    }
  }
}

/** A text may mean something else by now: a variable that it names has another value. */
function isSameVersion(a: FileVersion | undefined, b: FileVersion | undefined): boolean {
  if (!a || !b) return a === b
  return (
    a.hash === b.hash && a.marks.size === b.marks.size && [...a.marks].every(([key, mark]) => b.marks.get(key) === mark)
  )
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
