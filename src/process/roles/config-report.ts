import { hostname } from 'node:os'
import { relative } from 'node:path'
import { type Files, isMistake } from '../../config/files.ts'
import { ConfigError, keyedText, type Problem, problemText } from '../../config/problem.ts'
import type { Config } from '../../config/schema.ts'
import type { Logger } from '../../observe/log.ts'
import { metrics } from '../../observe/metrics.ts'
import { observations } from '../../observe/observations.ts'
import { remarksOn } from '../../roster/advice.ts'
import type { FilesOutcome } from '../../roster/file-writer.ts'
import type { FileResult } from '../../roster/puts.ts'
import type { Roster } from '../../roster/roster.ts'
import { isConnectionError } from '../../store/index.ts'
import { english, joined, say, type Text } from '../../texts/text.ts'

/** A change of the files and its result. */
export interface ReportedChange {
  readonly read: Files
  /** Why parts of them are not in effect. */
  readonly refused: readonly Problem[]
  readonly outcome: FilesOutcome
  readonly roster: Roster
}

/**
 * Logs the results of configuration changes: mistakes, new warnings, and that it was reloaded. Refused files and settings
 * that need a restart are observed for as long as that lasts.
 */
export class ConfigReport {
  readonly #config: Config
  readonly #logger: Logger
  readonly #dir: string
  readonly #endNoting: () => void
  #problems: readonly Problem[] = []
  #isFirst = true
  #fault = ''
  #unreadable: readonly Problem[] = []
  #refused: readonly Problem[] = []
  #atNextStart: readonly string[] = []

  /** `dir`: the folder of the files; `config`: the configuration at the start. */
  constructor({ dir, config }: { readonly dir: string; readonly config: Config }, logger: Logger) {
    this.#config = config
    this.#dir = dir
    this.#logger = logger
    this.#endNoting = observations.noteLasting(() => this.#note())
  }

  /** Returns the parts of the files that are not in effect: refused files, and settings that need a restart. */
  notInEffect({ read, refused }: Pick<ReportedChange, 'read' | 'refused'>): void {
    this.#refused = refused
    this.#atNextStart = settingsThatDiffer(this.#config, read.gateway.content.config)
  }

  /** @returns what became of each file of routes, with its remarks */
  async changed({ read, refused, outcome, roster }: ReportedChange): Promise<FileResult[]> {
    for (const problem of refused) this.#logger.error(problemText(problem))
    const remarks = await this.#warn(outcome.inEffect, roster)
    if (outcome.unrouted.length > 0) this.#logger.warn(english(unroutedText(outcome.unrouted)))
    if (this.#atNextStart.length > 0)
      this.#logger.warn(`${this.#atNextStart.join(', ')}: takes effect at the next start`)
    for (const name of outcome.stale) this.#logger.warn(english(staleText(name)))
    if (refused.length > 0) this.#logger.error('invalid parts are ignored; previous values stay in effect')
    if (outcome.withLoss) this.#logger.error(FORCE)
    if (!this.#isFirst && refused.length === 0) this.#logger.info('configuration reloaded')
    this.#isFirst = false
    return resultsOf({ read, refused, outcome }, remarks)
  }

  /** Whether a line of a file was left out for want of its device, or of its courier, and is in effect by this roster. */
  isOutdated(roster: Roster): boolean {
    return this.#problems.some(({ device, lacks }) => {
      const meant = lacks && device !== undefined ? roster.meant(device) : []
      return meant.length > 0 && (lacks === 'device' || meant.every(({ courier_id }) => courier_id !== undefined))
    })
  }

  /** @returns the results of unchanged files by the present roster */
  async again({ read, outcome, roster }: Omit<ReportedChange, 'refused'>): Promise<FileResult[]> {
    const remarks = await this.#warn(outcome.inEffect, roster)
    return resultsOf({ read, refused: outcome.refused, outcome: { ...outcome, changes: new Map() } }, remarks)
  }

  /** A fault is logged once until it is over. That Redis is away is a finding. */
  fault(error: Error): void {
    this.#unreadable = error instanceof ConfigError ? error.mistakes : []
    if (error.message === this.#fault) return
    this.#fault = error.message
    if (error instanceof ConfigError) {
      metrics.configReloadSuccessful.set(0)
      for (const problem of error.mistakes) this.#logger.error(problemText(problem))
    } else if (!isConnectionError(error))
      this.#logger.error({ err: error }, 'the files cannot be written to the roster in Redis: it is tried again')
  }

  faultIsOver(): void {
    this.#fault = ''
    this.#unreadable = []
  }

  close(): void {
    this.#endNoting()
  }

  /** Logs only the first new problems: each of ten thousand devices may have one. */
  async #warn(files: Files, roster: Roster): Promise<readonly Problem[]> {
    const remarks = await remarksOn(files, roster, { now: Date.now(), zone: this.#config.time_zone })
    const problems = remarks.filter((remark) => !isMistake(remark))
    const known = new Set(this.#problems.map(problemText))
    const added = problems.map(problemText).filter((problem) => !known.has(problem))
    this.#problems = problems
    for (const problem of added.slice(0, MOST_WARNINGS)) this.#logger.warn(problem)
    const more = added.length - MOST_WARNINGS
    if (more > 0) this.#logger.warn(`and ${more} more: \`waybridge check\` lists them all`)
    return problems
  }

  #note(): void {
    const host = hostname()
    for (const [file, problems] of Map.groupBy([...this.#refused, ...this.#unreadable], (problem) => problem.file)) {
      const name = relative(this.#dir, file) || file
      const evidence = problems.map(({ line, ...rest }) =>
        joined([line === undefined ? name : `${name}:${line}`, keyedText(rest)], ': '),
      )
      observations.noteState('config_refused', { subject: { file: name, host }, evidence, count: problems.length })
    }
    const settings = this.#atNextStart
    if (settings.length === 0) return
    const state = {
      subject: { file: 'gateway.yaml', host },
      evidence: [joined(settings, ', ')],
      count: settings.length,
    }
    observations.noteState('restart_needed', state)
  }
}

/** Returns, for each file of routes, what it has changed, which lines are left out, and what it warns of. */
function resultsOf(
  { read, refused, outcome }: Pick<ReportedChange, 'read' | 'refused' | 'outcome'>,
  remarks: readonly Problem[],
): FileResult[] {
  const { changes, stale, unrouted } = outcome
  return read.routes.map(({ source: { name, file } }): FileResult => {
    const own = remarks.filter((remark) => remark.file === file)
    const isChanged = changes.has(name)
    const refusals = refused.filter((problem) => problem.file === file)
    const warnings = remarksIn(own.filter(({ severity }) => severity === 'warning'))
    return {
      writer: name,
      kind: 'file',
      at: Date.now(),
      ...(changes.get(name) ?? { added: 0, changed: 0, removed: 0 }),
      isChanged,
      rejected: remarksIn([...refusals, ...own.filter(({ severity }) => severity === 'left_out')]),
      warnings: [
        ...(stale.includes(name) ? [{ line: 0, message: staleText(name) }] : []),
        ...(isChanged && unrouted.length > 0 ? [{ line: 0, message: unroutedText(unrouted) }] : []),
        ...warnings,
      ],
      ...(stale.includes(name) && { stale: true }),
      ...(refusals.length > 0 && { refused: true }),
    }
  })
}

function remarksIn(problems: readonly Problem[]): FileResult['rejected'] {
  return problems.map((problem) => ({ line: problem.line ?? 0, device: problem.device, message: keyedText(problem) }))
}

/** Names the devices that a change of files has left without a route. */
function unroutedText(names: readonly string[]): Text {
  const first = names.slice(0, MOST_WARNINGS).join(', ')
  const more = names.length - MOST_WARNINGS
  return say('vans that have lost their route by files: {}', more > 0 ? say('{} and {} more', first, more) : first)
}

function staleText(name: string): Text {
  return say(
    '{} on this machine is an older copy of what another machine has written to the roster: it is not in effect; copy the newer file here, or edit this one',
    name,
  )
}

/** Settings of gateway.yaml that are different on disk: `batch.max_wait`. */
function settingsThatDiffer(running: Config, read: Config | undefined): string[] {
  if (!read) return []
  return Object.entries(running).flatMap(([section, value]) => {
    const other: unknown = read[section as keyof Config]
    if (WHOLE.has(section) || JSON.stringify(value) === JSON.stringify(other)) return []
    if (typeof value !== 'object' || Array.isArray(value)) return [section]
    return Object.entries(value)
      .filter(([key]) => !FOLLOWED.has(`${section}.${key}`))
      .filter(([key, setting]) => JSON.stringify(setting) !== JSON.stringify((other as Record<string, unknown>)[key]))
      .map(([key]) => `${section}.${key}`)
  })
}

/** Sections that take effect without a restart. */
const WHOLE = new Set(['companies', 'copies'])
/** Settings that do, in other sections. */
const FOLLOWED = new Set(['admin.tokens', 'admin.metrics_token', 'admin.oidc', 'admin.log_reads', 'roster.pull'])
const MOST_WARNINGS = 20
const FORCE =
  'where the loss is meant, write the lines with `waybridge routes put FILE --force`, or delete the devices through the admin port'
