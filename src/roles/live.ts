import type { Directory } from '../config/directory.ts'
import { acceptedFile } from '../config/accepted.ts'
import { isSame } from '../config/files.ts'
import { type Config, type Loaded, type Problem, problemText } from '../config/load.ts'
import { resumeConfig } from '../config/resume.ts'
import type { Protocols } from '../config/schema.ts'
import { NO_EDITS } from '../config/edits.ts'
import { type Change, watchConfig } from '../config/watch.ts'
import { createLogger, type Logger } from '../observe/log.ts'
import { metrics } from '../observe/metrics.ts'
import type { Roster } from '../roster/index.ts'
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
  /** From now on what is written to the roster takes effect as well; resolves once what was is, and this is `complete`. */
  join(roster: Roster): Promise<void>
  /** Whether the roster is in effect: before that nobody's lane is certain. */
  readonly complete: boolean
  /** Resolves once a write to the roster, or a later one, is in effect. `at`: as in `Edits`. */
  upTo(at: number): Promise<void>
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
  const { config } = start.loaded
  const logger = createLogger(role, config.log)
  const followers = new Set<() => void>()
  const notes = createNotes(logger)
  let { loaded } = start
  let roster: Roster | undefined
  let complete = false

  function take(change: Change): void {
    metrics.configReloadSuccessful.set(change.refused.length === 0 ? 1 : 0)
    if (outspoken) report(change, change === start ? [] : loaded.problems, logger)
    if (outspoken && (change === start || !isSame(change.loaded.files, loaded.files))) notes.add(change)
    loaded = change.loaded
  }

  take(start)
  const edits = () => roster?.edits ?? NO_EDITS
  const watching = watchConfig({ dir, protocols, start, edits }, (change) => {
    const { at } = loaded.edits
    take(change)
    const what = change.loaded.edits.at === at ? 'configuration reloaded' : 'roster changed through the admin port'
    if (outspoken && change.refused.length === 0) logger.info(what)
    for (const changed of followers) changed()
  })

  function upTo(at: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = () => {
      if (loaded.edits.at < at) return
      followers.delete(look)
      resolve()
    }
    followers.add(look)
    look()
    return promise
  }

  return {
    config,
    logger,
    loaded: () => loaded,
    directory: () => loaded.directory,
    companies: () => loaded.config.companies,
    async join(joined) {
      roster = joined
      notes.join(joined)
      await upTo((await joined.first).at)
      complete = true
    },
    get complete() {
      return complete
    },
    upTo,
    follow: (changed) => void followers.add(changed),
    close: async () => {
      await watching.close()
      await notes.close()
      await roster?.close()
    },
  }
}

function report({ atNextStart, loaded, lossy, refused }: Change, before: readonly Problem[], logger: Logger): void {
  const known = new Set(before.map(problemText))
  for (const problem of refused) logger.error(problemText(problem))
  warn(
    loaded.problems.map(problemText).filter((problem) => !known.has(problem)),
    logger,
  )
  if (atNextStart.length > 0) logger.warn(`${atNextStart.join(', ')}: takes effect at the next start`)
  if (refused.length > 0) logger.error('of the configuration, what is wrong is not in effect: what was before stays')
  if (lossy)
    logger.error(`to have these routes all the same, delete ${acceptedFile(loaded.config.data_dir)} and start again`)
}

/** The first of what may be a line for each of ten thousand devices. */
function warn(problems: readonly string[], logger: Logger): void {
  for (const problem of problems.slice(0, MOST_WARNINGS)) logger.warn(problem)
  const more = problems.length - MOST_WARNINGS
  if (more > 0) logger.warn(`and ${more} more: \`waybridge check\` lists them all`)
}

const MOST_WARNINGS = 20
