import { inTurns, within } from '../../async.ts'
import { type Files, isMistake, isSame, problemsOf, readFiles } from '../../config/files.ts'
import { ConfigError } from '../../config/problem.ts'
import type { MappingFile } from '../../config/mappings.ts'
import type { Config } from '../../config/schema.ts'
import { type Following, follow } from '../../config/text-file.ts'
import { guarded, logFault } from '../../observe/faults.ts'
import { createLogger, type Logger } from '../../observe/log.ts'
import { metrics } from '../../observe/metrics.ts'
import { belongedAt } from '../../roster/device-entry.ts'
import { type FileResult, noteFileResults } from '../../roster/puts.ts'
import type { Replica } from '../../roster/replica.ts'
import type { Roster } from '../../roster/roster.ts'
import { deviceOf, NOT_CURRENT, type Place, receivedAt, timestampOf } from '../../store/index.ts'
import { installationId } from '../data-dir.ts'
import { tellSettings } from '../role.ts'
import { ConfigReport } from './config-report.ts'
import {
  type AdminAccessSettings,
  type FilesOptions,
  type FirstFiles,
  FollowedFiles,
  FollowedSettings,
} from './followed.ts'

/** The configuration of a process, which follows gateway.yaml, and its replica of the roster. */
export interface Live {
  /** The folder of the configuration. */
  readonly dir: string
  readonly config: Config
  readonly logger: Logger
  /** The roster in effect, and its version. */
  directory(): Roster
  version(): number
  /** The companies that are in effect now. */
  companies(): Config['companies']
  admin(): AdminAccessSettings
  /** The rosters to pull. */
  pulls(): Config['roster']['pull']
  /** The mappings of mappings.yaml that are in effect now, by their names. */
  mappings(): NonNullable<MappingFile['mappings']>
  /** Returns the copies in effect; the same object until they change. */
  copies(): Config['copies']
  /** Returns the files of devices and routes in effect; undefined if this process does not follow them. */
  files(): Files | undefined
  /** Makes the roster in Redis take effect, or without Redis that of the files; resolves once this is `complete`. */
  join(replica?: Replica): Promise<void>
  /** Whether the roster in effect was confirmed a moment ago. If not, the lane of a fix is not certain. */
  readonly complete: boolean
  /** Resolves once everything written to the roster is in effect. Rejects if Redis does not answer. */
  catchUp(): Promise<void>
  /** Informs the follower of each change that took effect, by the parts concerned. */
  follow(follower: Follower): void
  close(): Promise<void>
}

/** What can change while a process runs. */
interface Changes {
  /** The devices that the roster has changed, by ids without leading zeros; undefined: all may have changed. */
  readonly roster: ReadonlySet<string> | undefined
  /** The ids of companies that were added or removed, or whose apikey or token has changed. */
  readonly companies: ReadonlySet<string>
  /** The tokens of the admin port and of `/metrics`. */
  readonly tokens: undefined
  /** The mappings of mappings.yaml. */
  readonly mappings: undefined
}

type Follower = { readonly [Concern in keyof Changes]?: (changed: Changes[Concern]) => unknown }

export interface LiveOptions extends FilesOptions {
  /** For the log: which process this is. */
  readonly role: string
  /** The text of gateway.yaml that was in effect before, if any was: it is used if the file is gone or has mistakes. */
  readonly before?: string
}

/**
 * Reads the configuration in a folder, to be followed after `join`. @throws ConfigError with all mistakes at once; those of
 * devices and routes only at the first start on a data folder, because later the roster is known without these files.
 */
export async function followConfig(options: LiveOptions): Promise<Live> {
  const { before, dir, protocols, role, followsFiles } = options
  const files = await readFiles(dir, { protocols, gatewayOnly: !followsFiles, before })
  const mistakes = problemsOf(files).filter(isMistake)
  const { config } = files.gateway.content
  if (!config) throw new ConfigError(mistakes)
  const logger = createLogger(role, config.log)
  const { id, isNew } = followsFiles ? await installationId(config.data_dir, logger) : { id: '', isNew: false }
  if (isNew && mistakes.length > 0) throw new ConfigError(mistakes)
  return new FollowedConfig({ ...options, config, files, installation: id }, logger)
}

class FollowedConfig implements Live {
  readonly dir: string
  readonly config: Config
  readonly logger: Logger
  readonly #followers: Follower[] = []
  readonly #complete = Promise.withResolvers<void>()
  readonly #inTurn = inTurns()
  readonly #report: ConfigReport
  readonly #settings: FollowedSettings
  readonly #files: FollowedFiles
  /** The files as last read. Devices and routes take effect once they are written to Redis. */
  #read: Files
  #replica: Replica | undefined
  #following: Following | undefined
  #compared = false
  #isDue = true
  #isReportDue = false
  #comparing: Promise<unknown> = Promise.resolve()

  constructor(first: FirstFiles, logger: Logger) {
    this.dir = first.dir
    this.config = first.config
    this.logger = logger
    this.#report = new ConfigReport(first, logger)
    this.#settings = new FollowedSettings(first.config, first.files.mappings.content.mappings)
    this.#files = new FollowedFiles(first)
    this.#read = first.files
  }

  directory(): Roster {
    return this.#replica?.roster ?? this.#files.local
  }

  version(): number {
    return this.#replica?.version ?? 0
  }

  companies(): Config['companies'] {
    return this.#settings.current.companies
  }

  admin(): AdminAccessSettings {
    return this.#settings.current.admin
  }

  pulls(): Config['roster']['pull'] {
    return this.#settings.current.pulls
  }

  mappings(): NonNullable<MappingFile['mappings']> {
    return this.#settings.current.mappings
  }

  copies(): Config['copies'] {
    return this.#settings.current.copies
  }

  files(): Files | undefined {
    return this.#files.outcome?.inEffect
  }

  get complete(): boolean {
    return this.#replica?.current ?? this.#compared
  }

  async join(replica?: Replica): Promise<void> {
    if (replica) {
      replica.isCompared = false
      this.#replica = replica
      replica.follow((changed) => this.#rosterChanged(changed))
      await replica.first
    }
    this.#following = follow(
      () => this.#files.fingerprint(),
      () => this.#look(),
    )
    return this.#complete.promise
  }

  async catchUp(): Promise<void> {
    await this.#replica?.refresh()
    await this.#complete.promise
    await this.#comparing
  }

  follow(follower: Follower): void {
    this.#followers.push(follower)
  }

  async close(): Promise<void> {
    this.#report.close()
    this.#replica?.close()
    // A Redis that hangs would delay the end; changes that are not written are found at the next start.
    if (this.#following) await within(LAST_WRITE_MS, this.#following.close())
  }

  #rosterChanged(changed: ReadonlySet<string> | undefined): void {
    const { companies = [] } = this.#read.gateway.content.config ?? {}
    if (this.companies().length > companies.length) this.#updateSettings()
    this.#tell('roster', changed)
    this.#reportAgain()
    // The roster was read as a whole, so Redis may have lost what files have written: compare the files again.
    if (changed || !this.#files.outcome || !this.#compared) return
    this.#isDue = true
    this.#comparing = this.#look().then((isDone) => isDone || this.#following?.again())
  }

  /** A line that waited for its device is left out no more once the admin port has added the device. */
  #reportAgain(): void {
    if (this.#isReportDue || !this.#report.isOutdated(this.directory())) return
    this.#isReportDue = true
    const reportAgain = async () => {
      this.#isReportDue = false
      const [{ read, outcome }, roster] = [this.#files, this.directory()]
      if (outcome && this.#report.isOutdated(roster))
        await this.#noteResults(await this.#report.again({ read, outcome, roster }))
    }
    guarded(
      () => this.#inTurn(reportAgain),
      (error) => logFault(this.logger, error, { what: 'fault in reporting on unchanged files' }),
    )
  }

  /** Results that are not stored are in the log. */
  async #noteResults(results: readonly FileResult[]): Promise<void> {
    if (this.#replica) await noteFileResults(this.#replica.redis, results).catch(() => {})
  }

  /** A follower that fails keeps the change from no other one. */
  #tell<Concern extends keyof Changes>(concern: Concern, changed: Changes[Concern]): void {
    for (const follower of this.#followers)
      guarded(
        () => follower[concern]?.(changed),
        (error) => logFault(this.logger, error, { what: `fault in following a change of ${concern}` }),
      )
  }

  /** Resolves to false if the files must be checked again soon, although they do not change. */
  #look(): Promise<boolean> {
    return this.#inTurn(async () => {
      try {
        const read = await this.#files.readNow().catch((error: unknown) => {
          // At the start those that were read then take effect; the next look reports the fault.
          if (this.#compared) throw error
        })
        const isDone = await this.#take(read ?? this.#files.read)
        if (!read) return false
        this.#report.faultIsOver()
        return isDone
      } catch (error) {
        this.#isDue = true
        this.#report.fault(error as Error)
        return false
      }
    })
  }

  async #take(read: Files): Promise<boolean> {
    const wasWithLoss = this.#files.outcome?.withLoss ?? false
    const isSameRead = this.#compared && isSame(read, this.#files.read)
    if (isSameRead && !this.#isDue && !this.#files.isLossDue) return !wasWithLoss
    this.#read = read
    // Before the devices: a token that is taken out must not stay valid while Redis is away.
    this.#updateSettings()
    // Redis may lose what files have written while they are compared: then they are compared once more.
    this.#isDue = false
    const outcome = await this.#files.take(read, this.#replica)
    if (outcome && !this.#replica) this.#tell('roster', undefined)
    this.#updateSettings()
    const refused = [
      ...[read.gateway, read.mappings].flatMap(({ problems }) => problems.filter(isMistake)),
      ...(outcome?.refused ?? []),
    ]
    metrics.configReloadSuccessful.set(refused.length === 0 ? 1 : 0)
    this.#report.notInEffect({ read, refused })
    const isNews = !isSameRead || (wasWithLoss && !outcome?.withLoss)
    if (isNews && outcome)
      await this.#noteResults(await this.#report.changed({ read, refused, outcome, roster: this.directory() }))
    this.#compared = true
    if (this.#replica) this.#replica.isCompared = true
    this.#complete.resolve()
    return !outcome?.withLoss
  }

  /** Takes over the settings that take effect without a restart. */
  #updateSettings(): void {
    const { gateway, mappings } = this.#read
    const { config } = gateway.content
    // If gateway.yaml has mistakes, the previous listeners stay in effect, and so do their mappings.
    if (!config) return
    tellSettings(gateway.source.text)
    const { mappings: others } = mappings.content
    if (others && this.#settings.updateMappings(others)) this.#tell('mappings', undefined)
    const { companies, hasNewTokens } = this.#settings.update(config, this.directory())
    if (companies.size > 0) this.#tell('companies', companies)
    if (hasNewTokens) this.#tell('tokens', undefined)
  }
}

/** Where records belong as configured now: by their device, at their own time, within the company that it had when they came. */
export function placeIn(live: Pick<Live, 'complete' | 'directory'>): Place {
  return (record) => {
    if (!live.complete) return NOT_CURRENT
    const directory = live.directory()
    const entry = directory.find(deviceOf(record))
    if (!entry || !belongedAt(entry, receivedAt(record))) return undefined
    return directory.stayAt(entry, timestampOf(record))?.lane.key
  }
}

const LAST_WRITE_MS = 500
