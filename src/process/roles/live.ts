import { isDeepStrictEqual } from 'node:util'
import { inTurns, within } from '../../async.ts'
import {
  type Files,
  fingerprint,
  gatewayProblems,
  isMistake,
  isSame,
  problemsOf,
  readFiles,
} from '../../config/files.ts'
import { ConfigError } from '../../config/problem.ts'
import type { Config, Protocols } from '../../config/schema.ts'
import { type Following, follow } from '../../config/text-file.ts'
import { createLogger, type Logger } from '../../observe/log.ts'
import { metrics } from '../../observe/metrics.ts'
import { rosterOf } from '../../roster/file-version.ts'
import { type FilesOutcome, writeFiles } from '../../roster/file-writer.ts'
import type { Replica, RosterFollower } from '../../roster/replica.ts'
import { Roster } from '../../roster/roster.ts'
import { upgradeRoster } from '../../roster/upgrade.ts'
import { installationId } from '../data-dir.ts'
import { ConfigReport } from './config-report.ts'

/** The configuration of a process, which follows gateway.yaml, and its replica of the roster. */
export interface Live {
  /** As it was at the start. */
  readonly config: Config
  readonly logger: Logger
  /** The roster in effect, and its version. */
  directory(): Roster
  version(): number
  /** As they are now. */
  companies(): Config['companies']
  admin(): Pick<Config['admin'], 'tokens'>
  /** The files of devices and routes in effect; undefined where this process does not follow them. */
  files(): Files | undefined
  /** From now on the roster in Redis takes effect, or without Redis that of the files; resolves once this is `complete`. */
  join(replica?: Replica): Promise<void>
  /** Whether the roster in effect is the one as of a moment ago: where not, it is not known which lane a fix belongs to. */
  readonly complete: boolean
  /** Resolves once all that was written to the roster is in effect. Rejects where Redis does not answer. */
  catchUp(): Promise<void>
  /** Calls `changed` after each change of the roster, the companies or the tokens of the admin port that took effect. */
  follow(changed: RosterFollower): void
  close(): Promise<void>
}

export interface LiveOptions {
  readonly dir: string
  readonly protocols: Protocols
  /** For the log: which process this is. */
  readonly role: string
  /**
   * Whether this process writes the files of devices and routes to the roster, and reports what is wrong with them: one of
   * the processes of `start`, and each that runs on its own.
   */
  readonly followsFiles: boolean
}

/**
 * Reads the configuration in a folder, to be followed after `join`. @throws ConfigError with all mistakes at once; those of
 * devices and routes only at the first start on a data folder: later the roster is known without them.
 */
export async function followConfig(options: LiveOptions): Promise<Live> {
  const { dir, protocols, role, followsFiles } = options
  const files = await readFiles(dir, { protocols, gatewayOnly: !followsFiles })
  const mistakes = (await problemsOf(files)).filter(isMistake)
  const { config } = files.gateway.content
  if (!config) throw new ConfigError(mistakes)
  const { id, isNew } = followsFiles ? await installationId(config.data_dir) : { id: '', isNew: false }
  if (isNew && mistakes.length > 0) throw new ConfigError(mistakes)
  return new FollowedConfig({ ...options, config, files, installation: id, logger: createLogger(role, config.log) })
}

interface Start extends LiveOptions {
  readonly config: Config
  readonly files: Files
  readonly installation: string
  readonly logger: Logger
}

class FollowedConfig implements Live {
  readonly config: Config
  readonly logger: Logger
  readonly #start: Start
  readonly #followers: RosterFollower[] = []
  readonly #complete = Promise.withResolvers<void>()
  readonly #inTurn = inTurns()
  readonly #report: ConfigReport
  #companies: Config['companies']
  #admin: Pick<Config['admin'], 'tokens'>
  #files: Files
  /** Of a process without Redis: what its files say. */
  #local = new Roster()
  #replica: Replica | undefined
  #following: Following | undefined
  #outcome: FilesOutcome | undefined
  #compared = false
  #comparedAt = -Infinity
  #isDue = true
  #comparing: Promise<unknown> = Promise.resolve()

  constructor(start: Start) {
    this.#start = start
    this.config = start.config
    this.logger = start.logger
    this.#report = new ConfigReport(start.config, start.logger)
    this.#companies = start.config.companies
    this.#admin = start.config.admin
    this.#files = start.files
  }

  directory(): Roster {
    return this.#replica?.roster ?? this.#local
  }

  version(): number {
    return this.#replica?.version ?? 0
  }

  companies(): Config['companies'] {
    return this.#companies
  }

  admin(): Pick<Config['admin'], 'tokens'> {
    return this.#admin
  }

  files(): Files | undefined {
    return this.#outcome?.inEffect
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
    const print = () => fingerprint(this.#start.dir, this.#files, !this.#start.followsFiles)
    this.#following = follow(print, () => this.#look())
    return this.#complete.promise
  }

  async catchUp(): Promise<void> {
    await this.#replica?.refresh()
    // A put before the first comparison would be the first write: there would be nothing to upgrade.
    await this.#complete.promise
    await this.#comparing
  }

  follow(changed: RosterFollower): void {
    this.#followers.push(changed)
  }

  async close(): Promise<void> {
    this.#replica?.close()
    // A Redis that hangs would keep it waiting; what is not written is found at the next start.
    if (this.#following) await within(LAST_WRITE_MS, this.#following.close())
  }

  #rosterChanged(changed: ReadonlySet<string> | undefined): void {
    if (this.#companies.length > (this.#files.gateway.content.config?.companies.length ?? 0)) this.#updateSettings()
    this.#tell(changed)
    // It was read as a whole: Redis may have lost what files have written.
    if (changed || !this.#start.followsFiles || !this.#compared) return
    this.#isDue = true
    this.#comparing = this.#look()
  }

  #tell(changed: ReadonlySet<string> | undefined): void {
    for (const follower of this.#followers) follower(changed)
  }

  /** Answers false where the files have to be looked at again soon, though they do not change. */
  #look(): Promise<boolean> {
    return this.#inTurn(async () => {
      try {
        const isDone = await this.#take(await this.#read())
        this.#report.faultIsOver()
        return isDone
      } catch (error) {
        this.#isDue = true
        this.#report.fault(error as Error, this.#replica?.redis.status === 'ready')
        return false
      }
    })
  }

  #read(): Promise<Files> {
    const { dir, protocols, followsFiles } = this.#start
    const zone = this.config.time_zone
    return readFiles(dir, { protocols, zone, previous: this.#files, gatewayOnly: !followsFiles })
  }

  async #take(read: Files): Promise<boolean> {
    const wasWithLoss = this.#outcome?.withLoss ?? false
    const isSameRead = this.#compared && isSame(read, this.#files)
    const isLossDue = wasWithLoss && performance.now() - this.#comparedAt > LOSS_AGAIN_MS
    if (isSameRead && !this.#isDue && !isLossDue) return !wasWithLoss
    const { gateway } = read.gateway.content.config ? read : this.#start.files
    const outcome = await this.#write({ ...read, gateway })
    this.#files = read
    this.#updateSettings()
    const refused = [...gatewayProblems(read).filter(isMistake), ...(outcome?.refused ?? [])]
    metrics.configReloadSuccessful.set(refused.length === 0 ? 1 : 0)
    const isNews = !isSameRead || (wasWithLoss && !outcome?.withLoss)
    if (isNews && outcome) await this.#report.changed({ read, refused, outcome, roster: this.directory() })
    this.#isDue = false
    this.#compared = true
    if (this.#replica) this.#replica.isCompared = true
    this.#complete.resolve()
    return !outcome?.withLoss
  }

  async #write(files: Files): Promise<FilesOutcome | undefined> {
    if (!this.#start.followsFiles) return undefined
    const [replica, last] = [this.#replica, this.#outcome]
    if (replica && !this.#compared) await upgradeRoster(replica, files, this.#start)
    const { installation } = this.#start
    this.#outcome = await (replica ? writeFiles(files, replica, { installation, last }) : this.#takeAlone(files))
    this.#comparedAt = performance.now()
    return this.#outcome
  }

  async #takeAlone(files: Files): Promise<FilesOutcome> {
    const refused = (await problemsOf(files)).filter(isMistake)
    if (refused.length === 0) this.#local = await rosterOf(files)
    this.#tell(undefined)
    return { inEffect: files, refused, withLoss: false, stale: [] }
  }

  /** Takes over the settings that take effect without a restart. */
  #updateSettings(): void {
    const { config } = this.#files.gateway.content
    if (!config) return
    const [companies, { tokens }] = [this.#companiesWith(config.companies), config.admin]
    const isSameAsBefore = isDeepStrictEqual([companies, tokens], [this.#companies, this.#admin.tokens])
    if (isSameAsBefore) return
    this.#companies = companies
    this.#admin = { tokens }
    this.#tell(NOTHING)
  }

  /** A company that is taken out of gateway.yaml stays while it has devices: their fixes could not be pushed without its key. */
  #companiesWith(listed: Config['companies']): Config['companies'] {
    const ids = new Set(listed.map(({ company_id }) => company_id))
    const retained = this.#companies.filter(({ company_id }) => !ids.has(company_id) && this.#hasDevices(company_id))
    return [...listed, ...retained]
  }

  #hasDevices(company: string): boolean {
    for (const { company_id } of this.directory().devices()) if (company_id === company) return true
    return false
  }
}

const NOTHING: ReadonlySet<string> = new Set()
const LAST_WRITE_MS = 500
const LOSS_AGAIN_MS = 10_000
