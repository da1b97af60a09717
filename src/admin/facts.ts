import type { DeviceGroup, StoppedTraffic } from '../diagnose/device-facts.ts'
import type {
  ApiFacts,
  CopyFacts,
  Facts,
  FailedReceiver,
  MissingPositions,
  ProcessFacts,
  RedisFacts,
  RefusedLanes,
  RosterFacts,
  UpstreamError,
  UpstreamFacts,
} from '../diagnose/facts.ts'
import { companyOfLane } from '../domain/ids.ts'
import type { GatewayFigures } from '../observe/metrics.ts'
import { logFault } from '../observe/faults.ts'
import type { Logger } from '../observe/log.ts'
import type { Observation } from '../observe/observations.ts'
import type { ApiFigures, PushFigures } from '../push/index.ts'
import { belongedAt, type DeviceEntry } from '../roster/device-entry.ts'
import {
  isRedisTrouble,
  keptFigures,
  missingReplicas,
  parkedWhole,
  readProcesses,
  type RedisPrimary,
  redisPrimaries,
  type SeenProcess,
  type Store,
} from '../store/index.ts'
import { ClockJumps } from './clock-jumps.ts'
import type { CustodyCollector } from './custody.ts'
import { combinedAnswers, confirmedAnswers } from './lane-answers.ts'
import { type ApiState, type KnownApi, worstOf } from './api-states.ts'
import { answering, NoAnswer, RedisCollector, type RedisSources, shortageOf } from './redis-facts.ts'

export interface FactSources extends RedisSources {
  readonly logger: Logger
  readonly apiStates: () => Promise<readonly ApiState[]>
  readonly custody: () => Pick<CustodyCollector, 'backlog' | 'difference' | 'waitingOf'>
  readonly tokensRefused: () => string[]
  readonly deviceOf: (id: string) => DeviceEntry | undefined
  readonly nameOf: (device: string) => string | undefined
  /** Rejects if Redis does not answer. */
  readonly roster: () => Promise<RosterFacts>
  /** `keep.delivered`, ms. */
  readonly keepMs: number
  /** The receivers of alerts that fail. */
  readonly alertsFailing?: () => readonly FailedReceiver[]
  /** Groups of devices with the same trouble. */
  readonly devices: () => readonly DeviceGroup[]
  /** Vans that fell silent together. */
  readonly traffic: () => readonly StoppedTraffic[]
  /** Positions that the tracking API accepted but does not have. */
  readonly missing?: () => readonly MissingPositions[]
  /** Accounts of the fixes of copies. */
  readonly copies?: () => readonly CopyFacts[]
}

/** Gathers the facts of all processes and of Redis once a second, for the diagnosis and the status. */
export class FactGatherer {
  readonly #sources: FactSources
  readonly #disk = new RedisCollector()
  #looks = 0
  #downSince: number | undefined
  #watchedSince: number | undefined
  readonly #jumps = new ClockJumps()
  #processes: readonly SeenProcess[] = []
  #primaries: readonly RedisPrimary[] = []
  /** As read last. */
  #stored: StoredFacts | undefined
  #frames = { at: 0, total: 0, perS: 0 }
  /** When pushes of each company were accepted: a worker that is started again has forgotten it. */
  #accepted: AcceptedPushes = { acceptedAt: {}, acceptedBefore: {} }

  constructor(sources: FactSources) {
    this.#sources = sources
  }

  /** The processes as of the last look. */
  get processes(): readonly SeenProcess[] {
    return this.#processes
  }

  get primaries(): readonly RedisPrimary[] {
    return this.#primaries
  }

  /**
   * Open connections of all gateways, frames a second, when a fix was acknowledged last (ms UTC, 0: not yet), and how many listeners
   * have an old server.
   */
  get gateways() {
    const figures = this.#live('gateway').map((each) => each.figures as unknown as SignedFigures)
    const connections = figures.reduce((sum, each) => sum + (each.connections ?? 0), 0)
    const lastFixAt = Math.max(0, ...figures.map((each) => each.lastFixAt ?? 0))
    const trials = figures.reduce((sum, each) => sum + (each.trials ?? 0), 0)
    return { connections, frames: this.#frames.total, framesPerS: this.#frames.perS, lastFixAt, trials }
  }

  /** The figures of all workers' pushes to all APIs, added up. */
  get pushes(): ReturnType<typeof combined> {
    return combined(this.#pushFigures)
  }

  /** The figures of all workers' pushes to one API, added up. */
  pushesTo({ id }: Pick<KnownApi, 'id'>): ReturnType<typeof combined> {
    return combined(this.#pushFigures.filter((figures) => figures.id === id))
  }

  /** The figures of each worker and API. */
  get #pushFigures(): readonly FiguresOfApi[] {
    return this.#live('worker').flatMap((each) => {
      // A worker of the previous version has only one API.
      const { apis = [], ...usual } = each.figures as unknown as FiguresOfWorker
      return [{ ...usual, id: '' }, ...apis.map((api) => ({ ...api, url: api.id }))]
    })
  }

  /** Gathers the facts; while Redis does not answer, only that. If what it answers cannot be read, the last stored facts count. */
  async gather(): Promise<Facts> {
    const now = Date.now()
    const { alertsFailing, custody, deviceOf, nameOf, tokensRefused, devices, traffic } = this.#sources
    // After a jump of the clock, signs of life seem older than they are.
    if (this.#jumps.take(now) !== 0) this.#watchedSince = undefined
    const read = await this.#readStored(now).catch((error: Error) => error)
    if (read instanceof NoAnswer || isRedisTrouble(read)) {
      this.#downSince ??= now
      this.#watchedSince = undefined
      const disk = await shortageOf(this.#sources.redisDir)
      const reason = read instanceof NoAnswer ? read.text : read.message
      return { now, observations: [], redis: { downSince: this.#downSince, reason, disk } }
    }
    this.#downSince = undefined
    if (read instanceof Error) logFault(this.#sources.logger, read, { what: 'stored facts cannot be read' })
    else this.#stored = read
    const stored = this.#stored
    if (!stored) return { now, observations: [] }
    // While replicas are missing, Redis takes no signs of life, so processes cannot be judged.
    this.#watchedSince = stored.server.missing?.length ? undefined : (this.#watchedSince ?? now)
    this.#processes = stored.processes
    this.#countFrames()
    const { acceptedAt, acceptedBefore } = (this.#accepted = latestAccepted([this.#accepted, ...this.#pushFigures]))
    const apis = await Promise.all(stored.apis.map((api) => this.#apiFacts(api)))
    const worst = worstOf(apis)
    const { backlog, difference } = custody()
    return {
      now,
      watchedSince: this.#watchedSince,
      observations: stored.observations.flatMap((each) => withCompany(each, deviceOf) ?? []),
      nameOf,
      processes: stored.processes.map(processFacts),
      redis: stored.server,
      upstream: worst && { ...worst, tokensRefused: tokensRefused() },
      apis: apis.length > 1 ? apis : undefined,
      lanes: stored.lanes.map((each) => ({
        ...each,
        acceptedAt: acceptedAt[each.company],
        acceptedBefore: acceptedBefore[each.company],
      })),
      backlog,
      difference,
      devices: devices(),
      traffic: traffic(),
      roster: stored.roster,
      alerts: alertsFailing?.(),
      kept: stored.kept,
      missing: this.#sources.missing?.(),
      copies: this.#sources.copies?.(),
    }
  }

  async #apiFacts(api: ApiState): Promise<ApiFacts> {
    const { acceptedAt: _at, acceptedBefore: _before, ...pushes } = this.pushesTo(api)
    const answers = await confirmedAnswers(this.#sources.redis, pushes.answers).catch(() => undefined)
    const { companies, name, since, state } = api
    const waiting = this.#sources.custody().waitingOf(companies)
    return { ...pushes, state, since, name, companies, waiting, answers, tokensRefused: [] }
  }

  /** Reads the facts that are stored in Redis. Rejects if it does not answer. */
  async #readStored(now: number): Promise<StoredFacts> {
    const { redis, apiStates, roster } = this.#sources
    await answering(redis)
    const reads = [
      readProcesses(redis),
      apiStates(),
      refusedLanes(redis),
      this.#redisFacts(now),
      roster(),
      this.#keptFacts(now),
    ] as const
    const [signs, apis, lanes, server, writers, kept] = await Promise.all(reads)
    return { ...signs, apis, lanes, server, roster: writers, kept }
  }

  async #keptFacts(now: number): Promise<Facts['kept']> {
    const { redis, keepMs } = this.#sources
    const { since, trimmed } = await keptFigures(redis)
    const wantedSince = now - keepMs
    // Kept fixes are deleted by whole hours.
    const isShort = keepMs > 0 && trimmed > 0 && since !== undefined && since > wantedSince + HOUR_MS
    return isShort ? { since, wantedSince } : undefined
  }

  #live(role: SeenProcess['role']): SeenProcess[] {
    return this.#processes.filter((process) => process.role === role && process.ageMs < LIVES_MS && process.figures)
  }

  #countFrames(): void {
    const total = this.#live('gateway').reduce((sum, { figures }) => sum + Number(figures?.frames ?? 0), 0)
    const at = performance.now()
    const { at: before, total: counted } = this.#frames
    // A gateway that is started again counts from 0.
    const perS = before > 0 && total >= counted ? ((total - counted) * 1000) / (at - before) : 0
    this.#frames = { at, total, perS: Math.round(perS * 10) / 10 }
  }

  /** Slowly changing facts of Redis are read every ten seconds. */
  async #redisFacts(now: number): Promise<RedisFacts> {
    const { redis } = this.#sources
    if (this.#looks++ % 10 === 0) await this.#disk.look(this.#sources, now)
    this.#primaries = await redisPrimaries(redis.shards)
    return { ...this.#disk.facts, missing: await missingReplicas(redis.shards) }
  }
}

type StoredFacts = Awaited<ReturnType<typeof readProcesses>> &
  Pick<Facts, 'kept'> & {
    readonly apis: readonly ApiState[]
    readonly lanes: readonly RefusedLanes[]
    readonly server: RedisFacts
    readonly roster: RosterFacts
  }

/** The lanes that are parked whole, by company and status. */
async function refusedLanes(redis: Store): Promise<RefusedLanes[]> {
  const parked = (await parkedWhole(redis)).map((each) => ({ ...each, company: companyOfLane(each.lane) }))
  const groups = Map.groupBy(parked, ({ company, status }) => `${company} ${status}`)
  return [...groups.values()].map((lanes) => ({
    company: lanes[0].company,
    status: lanes[0].status,
    message: lanes[0].message,
    since: Math.min(...lanes.map(({ since }) => since)),
    trace: lanes[0].trace,
    lanes: lanes.map(({ lane }) => lane),
  }))
}

/** A gateway notes the device only. Observations from the time when the device belonged to another company are not shown. */
function withCompany(observation: Observation, deviceOf: FactSources['deviceOf']): Observation | undefined {
  const { lastAt, sinceAt, subject } = observation
  const entry = subject.device === undefined ? undefined : deviceOf(subject.device)
  if (!entry) return observation
  if (!belongedAt(entry, lastAt)) return undefined
  const { company_id, companySince = sinceAt } = entry
  const own = { ...observation, subject: { ...subject, company_id } }
  return belongedAt(entry, sinceAt) ? own : { ...own, sinceAt: companySince, evidence: [] }
}

function processFacts({ role, pid, host, sinceAt, restartsAt, ageMs }: SeenProcess): ProcessFacts {
  return { role, pid, host, sinceAt, restartsAt, ageMs }
}

/** What a gateway reports; one of the previous version reports no trials. */
type SignedFigures = GatewayFigures & { readonly trials?: number }

type FiguresOfApi = PushFigures & { readonly id: string; readonly url: string }
/** `apis`: those of companies. */
type FiguresOfWorker = PushFigures & { readonly url: string; readonly apis?: readonly ApiFigures[] }

function combined(
  workers: readonly FiguresOfApi[],
): Omit<UpstreamFacts, 'state' | 'since' | 'tokensRefused'> & AcceptedPushes {
  const latest = workers
    .flatMap(({ lastError }) => lastError ?? [])
    .toSorted((a, b) => a.at - b.at)
    .at(-1)
  const lastError: UpstreamError | undefined = latest && { ...latest, operation: 'pushPositions' }
  const [oldest] = workers.toSorted((a, b) => b.oldestMs - a.oldestMs)
  const [slowest] = workers.toSorted((a, b) => (b.usualMs ?? 0) - (a.usualMs ?? 0))
  return {
    url: workers[0]?.url ?? '',
    inFlight: workers.reduce((sum, { inFlight }) => sum + inFlight, 0),
    oldestMs: oldest?.oldestMs ?? 0,
    oldestTrace: oldest?.oldestTrace,
    slowestMs: Math.max(0, ...workers.map(({ slowestMs }) => slowestMs)),
    usualMs: slowest?.usualMs,
    lastError,
    ...latestAccepted(workers),
    // A worker of the previous version reports neither.
    refused: workers.flatMap((each) => (each.refusedPositions as typeof each.refusedPositions | undefined) ?? []),
    answers: combinedAnswers(workers.flatMap((each) => (each.lanes as typeof each.lanes | undefined) ?? [])),
  }
}

type AcceptedPushes = Pick<PushFigures, 'acceptedAt' | 'acceptedBefore'>

function latestAccepted(known: readonly AcceptedPushes[]): AcceptedPushes {
  return {
    acceptedAt: latestOf(known.map(({ acceptedAt }) => acceptedAt)),
    acceptedBefore: latestOf(known.map(({ acceptedBefore }) => acceptedBefore)),
  }
}

/** The latest instant of each company. */
function latestOf(known: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const latest: Record<string, number> = {}
  for (const [company, at] of known.flatMap((each) => Object.entries(each)))
    latest[company] = Math.max(at, latest[company] ?? 0)
  return latest
}

const LIVES_MS = 10_000
const HOUR_MS = 3_600_000
