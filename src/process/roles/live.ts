import type { Protocols } from '../../config/schema.ts'
import { createLogger, type Logger } from '../../observe/log.ts'
import { metrics } from '../../observe/metrics.ts'
import { acceptedFile } from '../../roster/accepted.ts'
import type { Directory } from '../../roster/directory.ts'
import { isWrittenSince, NO_EDITS } from '../../roster/edits.ts'
import { isSame } from '../../roster/files.ts'
import type { Roster } from '../../roster/index.ts'
import { type Config, type Loaded, type Problem, problemText } from '../../roster/load.ts'
import { resumeConfig } from '../../roster/resume.ts'
import { type Change, type Watch, watchConfig } from '../../roster/watch.ts'
import { createNotes } from './notes.ts'

/** A configuration that follows its files, and what is written through the admin port. */
export interface Live {
  /** As it was at the start, but for its companies. */
  readonly config: Config
  readonly logger: Logger
  /** What is in effect now. */
  loaded(): Loaded
  directory(): Directory
  companies(): Config['companies']
  /** From now on files and, where there is one, the roster take effect; resolves once this is `complete`. */
  join(roster?: Roster): Promise<void>
  /** Whether roster and files are in effect as of a moment ago: where not, nobody's lane is certain. */
  readonly complete: boolean
  /** Resolves once all that has been written to the roster is in effect. Rejects where Redis does not answer. */
  catchUp(): Promise<void>
  /** Calls `changed` after each change that took effect. */
  follow(changed: () => void): void
  close(): Promise<void>
}

export interface LiveOptions {
  readonly dir: string
  readonly protocols: Protocols
  /** For the log: which process this is. */
  readonly role: string
  /** Whether this process says what is wrong with the files; one of several on a machine does. */
  readonly outspoken: boolean
}

/**
 * Goes on with the configuration that was in effect, applies what its files are now, and follows them; the outspoken
 * process keeps what is in effect for those that start later. @throws ConfigError with all mistakes at once.
 */
export async function followConfig({ dir, protocols, role, outspoken }: LiveOptions): Promise<Live> {
  const start = await resumeConfig(dir, protocols)
  const { config } = start
  const logger = createLogger(role, config.log)
  const followers = new Set<() => void>()
  const notes = createNotes({ logger, keeps: outspoken })
  let loaded = start
  let roster: Roster | undefined
  let watching: Watch | undefined
  let joining = Promise.resolve()
  let looked = false
  let closed = false

  function takeFiles(change: Change): void {
    metrics.configReloadSuccessful.set(change.refused.length === 0 ? 1 : 0)
    if (outspoken) {
      report(change, looked ? loaded.problems : [], logger)
      if (looked && change.refused.length === 0) logger.info('configuration reloaded')
    }
    looked = true
    take(change.loaded)
  }

  function takeEdits(edited: Loaded): void {
    if (outspoken && looked) {
      warn(edited.problems, loaded.problems, logger)
      if (isWrittenSince(loaded.edits.at, edited.edits)) logger.info('roster changed through the admin port')
    }
    take(edited)
  }

  function take(next: Loaded): void {
    loaded = next
    for (const changed of followers) changed()
  }

  async function begin(): Promise<void> {
    await roster?.first
    if (closed) return
    const edits = () => roster?.edits ?? NO_EDITS
    const note = async (change: Change) => {
      if (!looked || !isSame(change.loaded.files, loaded.files)) await notes.add(change, roster)
    }
    watching = watchConfig({ dir, protocols, start, edits, note }, { files: takeFiles, edits: takeEdits })
    roster?.follow(watching.edited)
    await watching.first
  }

  return {
    config,
    logger,
    loaded: () => loaded,
    directory: () => loaded.directory,
    companies: () => loaded.config.companies,
    join(joined) {
      roster = joined
      return (joining = begin())
    },
    get complete() {
      return looked && (roster?.fresh ?? true)
    },
    async catchUp() {
      await roster?.refresh()
      await joining
      await watching?.edited()
    },
    follow: (changed) => void followers.add(changed),
    async close() {
      closed = true
      roster?.close()
      await watching?.close()
      await notes.close()
    },
  }
}

function report({ atNextStart, loaded, withLoss, refused }: Change, before: readonly Problem[], logger: Logger): void {
  for (const problem of refused) logger.error(problemText(problem))
  warn(loaded.problems, before, logger)
  if (atNextStart.length > 0) logger.warn(`${atNextStart.join(', ')}: takes effect at the next start`)
  if (refused.length > 0) logger.error('of the configuration, what is wrong is not in effect: what was before stays')
  if (withLoss)
    logger.error(`to have these routes all the same, delete ${acceptedFile(loaded.config.data_dir)} and start again`)
}

/** The first of what is new, which may be a line for each of ten thousand devices. */
function warn(problems: readonly Problem[], before: readonly Problem[], logger: Logger): void {
  const known = new Set(before.map(problemText))
  const fresh = problems.map(problemText).filter((problem) => !known.has(problem))
  for (const problem of fresh.slice(0, MOST_WARNINGS)) logger.warn(problem)
  const more = fresh.length - MOST_WARNINGS
  if (more > 0) logger.warn(`and ${more} more: \`waybridge check\` lists them all`)
}

const MOST_WARNINGS = 20
