import { isDeepStrictEqual } from 'node:util'
import { type Files, fingerprint, isMistake, problemsOf, readFiles } from '../../config/files.ts'
import type { MappingFile } from '../../config/mappings.ts'
import type { Config, Protocols } from '../../config/schema.ts'
import { rosterOf } from '../../roster/file-version.ts'
import { type FilesOutcome, writeFiles } from '../../roster/file-writer.ts'
import type { Replica } from '../../roster/replica.ts'
import { Roster } from '../../roster/roster.ts'

/** Which files a process follows. */
export interface FilesOptions {
  readonly dir: string
  readonly protocols: Protocols
  /**
   * Whether this process writes the files of devices and routes to the roster, and reports their mistakes: one of the
   * processes of `start` does, and each process that runs on its own. The others follow only gateway.yaml.
   */
  readonly followsFiles: boolean
}

/** The files at the start, with the configuration in them and the id of this installation. */
export interface FirstFiles extends FilesOptions {
  readonly files: Files
  readonly config: Config
  readonly installation: string
}

/** The files of a folder: reads them, and makes those of devices and routes take effect. */
export class FollowedFiles {
  readonly #first: FirstFiles
  #read: Files
  #local = new Roster()
  #outcome: FilesOutcome | undefined
  #writtenAt = -Infinity

  constructor(first: FirstFiles) {
    this.#first = first
    this.#read = first.files
  }

  /** The files as the last call of `take` read them. */
  get read(): Files {
    return this.#read
  }

  /** The result of the last comparison; undefined if this process does not follow devices and routes. */
  get outcome(): FilesOutcome | undefined {
    return this.#outcome
  }

  /** The roster of a process without Redis: the content of its files. */
  get local(): Roster {
    return this.#local
  }

  /** Whether to retry a file that was refused because too many routes would be lost: old lines may have ended by now. */
  get isLossDue(): boolean {
    return this.#outcome?.withLoss === true && performance.now() - this.#writtenAt > LOSS_AGAIN_MS
  }

  /** Changes whenever a file may have changed. */
  fingerprint(): Promise<string> {
    return fingerprint(this.#first.dir, this.#read, !this.#first.followsFiles)
  }

  /** Reads the present files. @throws ConfigError if a file cannot be read. */
  readNow(): Promise<Files> {
    const { dir, protocols, config, followsFiles } = this.#first
    return readFiles(dir, { protocols, zone: config.time_zone, previous: this.#read, gatewayOnly: !followsFiles })
  }

  /**
   * Writes changes of the files to the roster in Redis; without Redis, builds the roster of this process from them. Rejects
   * if Redis does not answer: then call it again.
   */
  async take(read: Files, replica: Replica | undefined): Promise<FilesOutcome | undefined> {
    if (this.#first.followsFiles) {
      const { gateway } = read.gateway.content.config ? read : this.#first.files
      this.#outcome = await this.#write({ ...read, gateway }, replica)
      this.#writtenAt = performance.now()
    }
    this.#read = read
    return this.#outcome
  }

  async #write(files: Files, replica: Replica | undefined): Promise<FilesOutcome> {
    const last = this.#outcome
    const { installation, config } = this.#first
    if (replica) return writeFiles(files, replica, { installation, last, config })
    const refused = problemsOf(files).filter(isMistake)
    if (refused.length === 0) this.#local = await rosterOf(files)
    return { inEffect: files, refused, withLoss: false, stale: [], changes: new Map(), unrouted: [] }
  }
}

/** Who may use the admin port, and whether reads are logged. */
export type AdminAccessSettings = Pick<Config['admin'], 'tokens' | 'metrics_token' | 'oidc' | 'log_reads'>

interface SettingsInEffect {
  readonly companies: Config['companies']
  readonly admin: AdminAccessSettings
  readonly pulls: Config['roster']['pull']
  readonly copies: Config['copies']
  readonly mappings: FileMappings
}

/**
 * Settings that take effect without a restart: of gateway.yaml the companies, the copies, the permissions on the admin port,
 * and the pulls; and the mappings of mappings.yaml. Their secrets may be in separate files (`${file:/path}`), which are
 * followed like gateway.yaml.
 */
export class FollowedSettings {
  readonly #usual: Config['tracking']
  /** Only this class sets it. */
  current: SettingsInEffect

  constructor({ companies, copies, admin, roster, tracking }: Config, mappings: FileMappings = new Map()) {
    this.#usual = tracking
    this.current = { companies, copies, mappings, pulls: roster.pull, admin: accessOf(admin) }
  }

  /** Takes over the mappings of mappings.yaml. Returns whether they are others. */
  updateMappings(mappings: FileMappings): boolean {
    if (isDeepStrictEqual(mappings, this.current.mappings)) return false
    this.current = { ...this.current, mappings }
    return true
  }

  /**
   * Applies the settings of gateway.yaml; the roster tells which removed companies stay. Returns the companies that have
   * changed, apart from their names, and whether the tokens have changed.
   */
  update({ companies: listed, copies, admin, roster: { pull }, tracking }: Config, roster: Roster): ChangedSettings {
    const before = this.current
    const isOther = tracking.base_url !== this.#usual.base_url || tracking.push_url !== this.#usual.push_url
    const companies = this.#companiesWith(isOther ? this.#untilRestart(listed) : listed, roster)
    this.current = {
      ...before,
      companies,
      admin: accessOf(admin),
      pulls: pull,
      // The same copies stay the same object: what sends them compares.
      copies: isDeepStrictEqual(before.copies, copies) ? before.copies : copies,
    }
    return {
      companies: changedCompanies(before.companies, companies),
      hasNewTokens: !isDeepStrictEqual(this.current.admin, before.admin),
    }
  }

  /**
   * The companies in effect while gateway.yaml names another usual API, which needs a restart: their new keys may be for that API, and the
   * earlier API must not see them.
   */
  #untilRestart(listed: Config['companies']): Config['companies'] {
    return listed.flatMap((company) => {
      const hasOwnApi = company.tracking && company.tracking.base_url !== null
      return hasOwnApi ? company : this.current.companies.filter(({ company_id }) => company_id === company.company_id)
    })
  }

  /**
   * A company that is removed from gateway.yaml stays while it has devices: without its key their fixes could not be
   * pushed.
   */
  #companiesWith(listed: Config['companies'], roster: Roster): Config['companies'] {
    const ids = new Set(listed.map(({ company_id }) => company_id))
    const retained = this.current.companies.filter(
      ({ company_id }) => !ids.has(company_id) && hasDevices(company_id, roster),
    )
    return [...listed, ...retained]
  }
}

type FileMappings = NonNullable<MappingFile['mappings']>

function accessOf({ tokens, metrics_token, oidc, log_reads }: Config['admin']): AdminAccessSettings {
  return { tokens, metrics_token, oidc, log_reads }
}

interface ChangedSettings {
  readonly companies: ReadonlySet<string>
  readonly hasNewTokens: boolean
}

function changedCompanies(before: Config['companies'], after: Config['companies']): Set<string> {
  const [earlier, later] = [before, after].map(
    (companies) => new Map(companies.map((company) => [company.company_id, { ...company, name: undefined }])),
  )
  const ids = [...earlier.keys(), ...later.keys()]
  return new Set(ids.filter((id) => !isDeepStrictEqual(earlier.get(id), later.get(id))))
}

function hasDevices(company: string, roster: Roster): boolean {
  for (const { company_id } of roster.devices()) if (company_id === company) return true
  return false
}

const LOSS_AGAIN_MS = 10_000
