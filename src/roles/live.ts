import type { Directory } from '../config/directory.ts'
import { type Config, loadConfig, problemText } from '../config/load.ts'
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

/** Loads a configuration and follows it. @throws ConfigError with all mistakes at once. */
export async function followConfig({ dir, protocols, role, outspoken }: LiveOptions): Promise<Live> {
  let loaded = await loadConfig(dir, protocols)
  const { config } = loaded
  const logger = createLogger(role, config.log)
  const followers: (() => void)[] = []
  if (outspoken) warn(loaded.problems.map(problemText), logger)
  metrics.configReloadSuccessful.set(1)

  const watching = await watchConfig(dir, protocols, loaded, (change) => {
    const known = new Set(loaded.problems.map(problemText))
    loaded = change.loaded
    metrics.configReloadSuccessful.set(change.refused.length === 0 ? 1 : 0)
    if (outspoken) report(change, known, logger)
    for (const changed of followers) changed()
  })
  return {
    config,
    logger,
    directory: () => loaded.directory,
    companies: () => loaded.config.companies,
    follow: (changed) => void followers.push(changed),
    close: () => watching.close(),
  }
}

function report({ atNextStart, loaded, refused }: Change, known: ReadonlySet<string>, logger: Logger): void {
  for (const problem of refused) logger.error(problemText(problem))
  warn(
    loaded.problems.map(problemText).filter((problem) => !known.has(problem)),
    logger,
  )
  if (atNextStart.length > 0) logger.warn(`${atNextStart.join(', ')}: takes effect at the next start`)
  if (refused.length === 0) logger.info('configuration reloaded')
  else logger.error('of the configuration, what is wrong is not in effect: what was before stays')
}

/** The first of what may be a line for each of ten thousand devices. */
function warn(problems: readonly string[], logger: Logger): void {
  for (const problem of problems.slice(0, MOST_WARNINGS)) logger.warn(problem)
  const more = problems.length - MOST_WARNINGS
  if (more > 0) logger.warn(`and ${more} more: \`waybridge check\` lists them all`)
}

const MOST_WARNINGS = 20
