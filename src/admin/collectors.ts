import { yieldToEventLoop } from '../async.ts'
import type { RosterFacts } from '../diagnose/facts.ts'
import { localDay, localFromUtc, utcFromLocal } from '../domain/times.ts'
import type { Logger } from '../observe/log.ts'
import { lastResults, leftOutResults, type RosterResult, readResults } from '../roster/puts.ts'
import { readOffers, redeliverAgreed, refreshOffers } from '../roster/offers.ts'
import type { Roster } from '../roster/roster.ts'
import { grouped, type Store } from '../store/index.ts'
import { joined } from '../texts/text.ts'
import type { Verifier } from '../verify/index.ts'
import { CopyCollector, type CopySources } from './copies.ts'
import { CustodyCollector, type FixAccount, takeAccount } from './custody.ts'
import { ConditionCollector } from './device/condition.ts'
import { DeviceIndex, type DeviceIndexSources } from './device/device-index.ts'
import { LaneRefusals } from './device/lane-refusals.ts'
import type { DeviceSources } from './device/list.ts'
import { deafWays, explainsSilence, knownTraffic } from './device/traffic.ts'
import { type KnownApi, readApiStates } from './api-states.ts'
import { FactGatherer, type FactSources } from './facts.ts'
import { Findings } from './findings.ts'
import { FlowHour } from './flow-hour.ts'
import { type MonitoringSources, startGauges } from './monitoring.ts'
import type { Puller } from './pull/index.ts'
import type { RosterInEffect } from './roster/writes.ts'
import { linkRates, RateCollector } from './status.ts'

export interface CollectorSources
  extends DeviceSources,
    Pick<FactSources, 'alertsFailing' | 'isVerified' | 'redisDir' | 'tokensRefused'>,
    Pick<CopySources, 'copies'>,
    Pick<MonitoringSources, 'readiness'>,
    Pick<DeviceIndexSources, 'speaks'> {
  readonly live: RosterInEffect
  readonly logger: Logger
  readonly puller: Pick<Puller, 'look'>
  readonly verifier: Verifier
  readonly apis: () => readonly KnownApi[]
}

/** What the admin process collects once a second: the account, the states of devices, the findings, and their gauges. */
export function openCollectors(sources: CollectorSources) {
  const { live, logger, redis } = sources
  const startedAt = Date.now()
  // One at a time; calls during a run share the result of the next run.
  const companyOf = (device: string) => sources.directory().find(device)?.company_id
  const custody = new CustodyCollector(
    grouped<void, FixAccount>(async (calls) =>
      Array<FixAccount>(calls.length).fill(await takeAccount(redis, companyOf)),
    ),
  )
  const account = () => custody.recent()
  const apiStates = () => readApiStates(redis, sources.apis(), startedAt)
  const rates = new RateCollector(redis)
  const index = new DeviceIndex({ ...sources, follow: (roster) => live.follow({ roster }) })
  const devices: ConditionCollector = new ConditionCollector({
    ...sources,
    index,
    isExplained: (now) => explainsSilence(findings.current, gatherer.processes, now),
    deafWays: () => deafWays(findings.current),
    zone: () => live.config.time_zone,
    knownTraffic: () => knownTraffic(gatherer.processes, findings.current),
  })
  const roster = new RosterCollector(sources)
  const { copies: configured } = sources
  const copies = new CopyCollector({ redis, logger, copies: configured })
  const gatherer: FactGatherer = new FactGatherer({
    ...sources,
    deviceOf: (id) => sources.directory().find(id),
    nameOf: (device) => labelOf(sources.directory(), device),
    apiStates,
    custody: () => custody,
    devices: () => devices.groups(),
    traffic: () => devices.traffic(),
    roster: () => roster.read(),
    keepMs: live.config.keep.delivered,
    missing: () => sources.verifier.missing,
    copies: () => copies.facts(),
  })
  const hour = new FlowHour(() => linkRates(rates.now(), gatherer.gateways))
  const findings: Findings = new Findings({ redis, gather: () => gatherer.gather(), logger })
  const refusals = new LaneRefusals({ ...sources, findings, index })
  const gauges = startGauges({
    ...sources,
    account,
    copies,
    apiStates,
    findings,
    gatherer,
    devices: () => devices.states(),
  })
  findings.follow(({ finding: { subject } }) => subject.device !== undefined && index.touch(subject.device))
  return {
    account,
    copies,
    custody,
    apiStates,
    startedAt,
    rates,
    index,
    devices,
    gatherer,
    hour,
    findings,
    refusals,
    jobs: {
      account: () => custody.look(),
      devices: () => index.catchUp(),
      'what devices do': () => devices.look(),
      rates: () => rates.look(),
      copies: () => copies.look(),
      'last hour': () => hour.look(),
      findings: () => findings.look(),
      verify: () => sources.verifier.look(),
      'refused lanes': () => refusals.look(),
      'pulled rosters': () => sources.puller.look(),
    },
    close: () => gauges.close(),
  }
}

/** The name of a device; with its id if another one of its company has that name, of which a sentence may not be true. */
function labelOf(roster: Roster, device: string): string | undefined {
  const { company_id, id, name } = roster.find(device) ?? {}
  if (name === undefined) return undefined
  const alike = roster.meant(name).filter((other) => other.company_id === company_id)
  return alike.length > 1 ? `${name} (${id})` : name
}

interface RosterFactSources {
  readonly redis: Store
  readonly directory: () => Roster
  readonly live: RosterInEffect
}

/**
 * Reads the results of the roster's writers every five seconds. Reads which companies lack a roster for today every minute,
 * but every five seconds while one lacks it, so that its end is noticed soon.
 */
class RosterCollector {
  readonly #sources: RosterFactSources
  #facts: RosterFacts = { rejected: [], stale: [], missing: [], pulls: [] }
  #readAt = -Infinity
  #missingAt = -Infinity
  /** ms UTC. */
  #missingReadAt = -Infinity
  #offersAt = -Infinity
  #offersAsOf = -1

  constructor(sources: RosterFactSources) {
    this.#sources = sources
  }

  /** Rejects if Redis does not answer. */
  async read(): Promise<RosterFacts> {
    const now = performance.now()
    if (now - this.#readAt < READ_MS) return this.#facts
    const { redis } = this.#sources
    const all = await readResults(redis)
    const results = lastResults(all)
    const last = results.filter(({ undone }) => !undone)
    const isDue = this.#facts.missing.length > 0 || now - this.#missingAt >= MISSING_MS
    this.#readAt = now
    if (isDue) this.#missingAt = now
    this.#facts = {
      rejected: leftOutResults(all)
        .filter(isPresent)
        .flatMap(({ writer, company_id, rejected, refused, at }) => {
          const evidence = rejected.slice(0, MOST_EVIDENCE).map(({ line, device, message }) => {
            return joined([`${writer}:${line}`, device ?? [], message].flat(), ': ')
          })
          return refused ? [] : [{ writer, company_id, lines: rejected.length, at, evidence }]
        }),
      stale: last.filter(({ stale }) => stale).map(({ writer, at }) => ({ name: writer, at })),
      pulls: results.flatMap(({ writer, company_id, failing }) => {
        const isFinding = failing && (failing.refused || failing.tries >= TRIES)
        return isFinding ? [{ writer, company_id, ...failing }] : []
      }),
      offers: await this.#offers(),
      missing: isDue ? await this.#missing() : this.#facts.missing,
    }
    return this.#facts
  }

  /** A company that had lines when this was read last lacks them since now. */
  async #missing(): Promise<RosterFacts['missing']> {
    const { directory, live } = this.#sources
    const [now, before] = [Date.now(), this.#missingReadAt]
    const missing = await companiesMissing(directory(), now, live.config.time_zone)
    this.#missingReadAt = now
    const known = new Map(this.#facts.missing.map(({ company_id, since }) => [company_id, since]))
    return missing.map(({ company_id, since }) => {
      return { company_id, since: known.get(company_id) ?? (before > since ? now : since) }
    })
  }

  /** Counts offers again when the roster has changed, and every minute. */
  async #offers(): Promise<RosterFacts['offers']> {
    const { directory, live, redis } = this.#sources
    const now = performance.now()
    const isDue = live.version() !== this.#offersAsOf || now - this.#offersAt >= MISSING_MS
    if (!isDue) return readOffers(redis)
    const asOf = live.version()
    const keepMs = live.config.keep.delivered
    // Of a write whose process ended after it, or did not hear of its success.
    await redeliverAgreed(redis)
    const offers = await refreshOffers(redis, { roster: directory(), version: asOf, keepMs })
    this.#offersAsOf = asOf
    this.#offersAt = now
    return offers
  }
}

/** Returns false for the result of a roster that is no longer pulled, which nobody can correct. */
function isPresent({ kind, pulled_at }: RosterResult): boolean {
  return kind !== 'pull' || pulled_at !== undefined
}

/**
 * Resolves to the companies for which no roster line begins today, although one began on each of the last five working days
 * (Monday to Friday). Applies from six o'clock of a working day on, which is their `since`. `now`: ms UTC.
 */
export async function companiesMissing(roster: Roster, now: number, zone: string): Promise<RosterFacts['missing']> {
  const local = new Date(localFromUtc(now, zone))
  if (isWeekend(local) || local.getUTCHours() < BEGIN_HOUR) return []
  const since = utcFromLocal(new Date(local).setUTCHours(BEGIN_HOUR, 0, 0, 0), zone)
  const today = localDay(now, zone)
  const days = [today]
  for (let day = today; days.length <= WORKING_DAYS; ) {
    day = localDay(day.from - 1, zone)
    if (!isWeekend(new Date(localFromUtc(day.from, zone)))) days.push(day)
  }
  const begun = new Map<string, Set<number>>()
  for (const [, { from, device, company_id }] of roster.assignments()) {
    await yieldToEventLoop()
    const index = days.findIndex((day) => from * 1000 >= day.from && from * 1000 < day.until)
    const company = company_id ?? (index < 0 ? undefined : roster.meant(device)[0]?.company_id)
    if (index < 0 || company === undefined) continue
    begun.set(company, (begun.get(company) ?? new Set()).add(index))
  }
  return [...begun]
    .filter(([, indexes]) => !indexes.has(0) && indexes.size === WORKING_DAYS)
    .map(([company_id]) => ({ company_id, since }))
}

function isWeekend(local: Date): boolean {
  return local.getUTCDay() === 0 || local.getUTCDay() === 6
}

const READ_MS = 5000
const MISSING_MS = 60_000
const WORKING_DAYS = 5
const BEGIN_HOUR = 6
const MOST_EVIDENCE = 5
/** A single pull that fails is often over with the next. */
const TRIES = 2
