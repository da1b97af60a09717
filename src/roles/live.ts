import type { Directory } from '../config/directory.ts'
import { acceptedFile, keepAccepted } from '../config/accepted.ts'
import { isSame } from '../config/files.ts'
import { type Config, type Loaded, type Problem, problemText } from '../config/load.ts'
import { resumeConfig } from '../config/resume.ts'
import type { Protocols } from '../config/schema.ts'
import { type Change, watchConfig } from '../config/watch.ts'
import { createLogger, type Logger } from '../observe/log.ts'
import { metrics } from '../observe/metrics.ts'

/** A configuration that follows its files. */
export interface Live {
  /** As it was at the start, but for its companies. */
  readonly config: Config
  readonly logger: Logger
  /** What is in effect now. */
  directory(): Directory
  companies(): Config['companies']
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
  const followers: (() => void)[] = []
  let { loaded } = start
  let kept = Promise.resolve()

  function take(change: Change): void {
    metrics.configReloadSuccessful.set(change.refused.length === 0 ? 1 : 0)
    if (outspoken) report(change, change === start ? [] : loaded.problems, logger)
    if (outspoken && (change === start || !isSame(change.loaded.files, loaded.files)))
      kept = kept.then(() => keep(change.loaded, logger))
    loaded = change.loaded
  }

  take(start)
  const watching = await watchConfig(dir, protocols, start, (change) => {
    take(change)
    if (outspoken && change.refused.length === 0) logger.info('configuration reloaded')
    for (const changed of followers) changed()
  })
  await kept
  return {
    config,
    logger,
    directory: () => loaded.directory,
    companies: () => loaded.config.companies,
    follow: (changed) => void followers.push(changed),
    close: async () => {
      await watching.close()
      await kept
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

/** Where it fails, only the next start is concerned: it takes what is on disk then. */
async function keep({ config, files }: Loaded, logger: Logger): Promise<void> {
  await keepAccepted(config.data_dir, files).catch((error: NodeJS.ErrnoException) => {
    logger.warn(
      `${acceptedFile(config.data_dir)} cannot be written (${error.code}): a restart will not know what was refused`,
    )
  })
}

/** The first of what may be a line for each of ten thousand devices. */
function warn(problems: readonly string[], logger: Logger): void {
  for (const problem of problems.slice(0, MOST_WARNINGS)) logger.warn(problem)
  const more = problems.length - MOST_WARNINGS
  if (more > 0) logger.warn(`and ${more} more: \`waybridge check\` lists them all`)
}

const MOST_WARNINGS = 20
