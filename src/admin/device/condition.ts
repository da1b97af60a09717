import { shared, yieldToEventLoop } from '../../async.ts'
import type { DeviceFacts, StoppedTraffic, TrafficVan } from '../../diagnose/device-facts.ts'
import { isOfOwnClock } from '../../diagnose/diagnose.ts'
import type { Finding } from '../../diagnose/facts.ts'
import { conditionOf, type DeviceCondition, DeviceSurvey } from '../../diagnose/devices.ts'
import { leastSilenceMs } from '../../diagnose/parked.ts'
import { isMissing } from '../../diagnose/silence.ts'
import { TrafficWatch } from '../../diagnose/traffic-watch.ts'
import { sameId, slipBetween } from '../../domain/ids.ts'
import { localDay } from '../../domain/times.ts'
import { duration } from '../../domain/units.ts'
import type { Roster } from '../../roster/roster.ts'
import { isConnected } from '../../store/device-record.ts'
import { keys, readDays, readProcesses, type Store } from '../../store/index.ts'
import { ClockJumps } from '../clock-jumps.ts'
import type { DeviceMapping, DeviceState } from '../schemas/devices.ts'
import type { Scope } from '../scope.ts'
import type { DeviceIndex, IndexedDevice, SurveyedDevice } from './device-index.ts'
import { behindBy } from './learnt.ts'
import { saidFacts } from './said-facts.ts'
import { type DeafWay, type KnownTraffic, trafficVan } from './traffic.ts'

/** Returns the facts about a device for the diagnosis, at `now`, ms UTC. */
export function factsOf(
  device: IndexedDevice,
  { index, roster, now }: { index: DeviceIndex; roster: Roster; now: number },
): DeviceFacts {
  const { entry, heard, id, learnt } = device
  const { filtered, fix } = heard ?? {}
  const lane = entry && roster.stayAt(entry, now / 1000)?.lane
  const unplaced = filtered && !PLACED_ELSEWHERE.has(filtered.reason) && !isOver(device, index) ? filtered : undefined
  const isLatest =
    unplaced && (!fix || unplaced.at > fix.at || (unplaced.at === fix.at && unplaced.fix.time >= fix.fix.time))
  const ended = entry && !lane ? entry.stays.findLast(({ until }) => until <= now / 1000) : undefined
  const interval = intervalMs(entry?.settings?.interval)
  const usualMs = Math.max(learnt.usualMs, interval)
  return {
    id,
    name: entry?.name,
    source: entry && fileOf(entry.source),
    ended: ended && { source: fileOf(ended.source), at: ended.until * 1000 },
    company: entry?.company_id,
    companySince: entry?.companySince,
    route: lane && { courier: lane.courier, route: lane.route },
    heardAt: heard?.at,
    deafMs: heard && index.deafMs(heard, now),
    heardSince: heard && learnt.heardSince,
    wokenAt: learnt.wokenAt,
    connectedAt: index.contactOf(device)?.connectedAt,
    usualMs,
    sleepMs: interval || learnt.sleepMs,
    said: heard?.said && saidFacts(heard.said),
    fix: fix && { newAt: learnt.newAt, time: fix.fix.time, speed: learnt.speed },
    positionAt: Math.max(fix?.at ?? 0, filtered?.at ?? 0) || undefined,
    unplaced: unplaced && { reason: unplaced.reason, at: unplaced.at, isHeld: unplaced.held === true },
    isUnplaced: isLatest === true,
    stopped: device.stopped,
    isHeldUnknown: index.heldOf(device).some(({ lists }) => lists.reason === 'unknown'),
    sender: entry && index.senderOf(device, now),
    behind: behindBy(learnt, entry),
    isLate:
      learnt.late !== undefined && learnt.late.fixes > 1 && now - learnt.late.untilAt <= leastSilenceMs({ usualMs }),
  }
}

/** Returns the facts without a delay of the device's times that the clock of a gateway may explain. */
export function withoutOwnClock(facts: DeviceFacts, findings: readonly Finding[]): DeviceFacts {
  const isOwn = facts.behind && isOfOwnClock(facts.behind.sinceAt, findings)
  return isOwn ? { ...facts, behind: undefined, isLate: true } : facts
}

/** Whether the last fix without a lane was held, and is no more: it was released, or discarded. */
function isOver(device: IndexedDevice, index: DeviceIndex): boolean {
  const { held, reason } = device.heard?.filtered ?? {}
  return held === true && !index.heldOf(device).some(({ lists }) => lists.reason === reason)
}

/** Reasons for filtering a fix that is stored elsewhere: already stored, or with the old server of a trial. */
const PLACED_ELSEWHERE: ReadonlySet<string> = new Set(['duplicate', 'trial'])

/** `devices.yaml:9`, or the admin port. */
function fileOf(source: string): string {
  return source.startsWith('admin ') ? 'the admin port' : source
}

/** The entry, of a device that was never heard, in which the id of an unconfigured device may be mistyped; undefined also if several are. */
export function meantBy({ id }: IndexedDevice, index: DeviceIndex): DeviceFacts['meant'] {
  const own = sameId(id)
  const mistyped = index.inOrder.flatMap(({ entry, heard }) => {
    const slip = entry && !heard ? slipBetween(sameId(entry.id), own) : undefined
    return entry && slip ? [{ name: entry.name ?? entry.id, source: fileOf(entry.source), slip }] : []
  })
  return mistyped.length === 1 ? mistyped[0] : undefined
}

/** Returns how long a device sleeps between messages according to its entry: `settings: { interval: 1h }`. */
function intervalMs(interval: unknown): number {
  return typeof interval === 'string' ? (duration(interval) ?? 0) : 0
}

interface StateSources {
  readonly index: DeviceIndex
  readonly idleMs: number
}

/**
 * Returns the state of a device. One with an open connection is online. One without a lasting connection (UDP, HTTP, a relay)
 * is online if it sent something within `idleMs`. An unconfigured device that was never heard has no state. `now`: ms UTC.
 */
function stateOf(device: IndexedDevice, { index, idleMs }: StateSources, now: number): DeviceState | undefined {
  const contact = index.contactOf(device)
  if (!contact) return device.entry && 'never'
  const isRecent = !isConnected(contact) && now - contact.at <= idleMs
  return contact.connectedAt !== undefined || isRecent ? 'online' : 'offline'
}

/** Returns whether a device has a route; `route`: its present one. */
function mappingOf(entry: object | undefined, route: object | undefined): DeviceMapping {
  return !entry ? 'unmapped' : route ? 'mapped' : 'no_route'
}

interface SurveySources extends StateSources {
  readonly directory: () => Roster
}

interface ConditionSources extends SurveySources {
  readonly redis: Store
  /** Returns whether a known cause explains why vans are not heard. `now`: ms UTC. */
  readonly isExplained: (now: number) => boolean
  readonly deafWays: () => readonly DeafWay[]
  readonly knownTraffic: () => KnownTraffic
  readonly zone: () => string
}

/** Returns the condition of a device at `now`, ms UTC, with the facts that show it. */
export function surveyDevice(device: IndexedDevice, sources: SurveySources, now: number) {
  const facts = factsOf(device, { index: sources.index, roster: sources.directory(), now })
  const mapping = mappingOf(device.entry, facts.route)
  return { facts, condition: conditionOf(facts, now), state: stateOf(device, sources, now), mapping }
}

/** Collects the conditions of all devices. */
export class ConditionCollector {
  readonly #sources: ConditionSources
  readonly #traffic = new TrafficWatch()
  /** The stopped vans as last read or written, as JSON; undefined: the notes of the previous process are not read yet. */
  #trafficKept: string | undefined
  readonly #startedAt = performance.now()
  /** Whether the time without a gateway before the start of this process was looked up. */
  #isStartKnown = false
  readonly #jumps = new ClockJumps()
  #hasJumped = false
  #overdue: ReadonlyMap<string, number> = new Map()
  #survey = new DeviceSurvey(0)
  #states: Record<DeviceState, number> = { online: 0, offline: 0, never: 0 }
  /** Resolves to how long it took, ms. */
  readonly #counted = shared(
    (busyMs) => busyMs * SHARE,
    () => this.#count(),
  )

  constructor(sources: ConditionSources) {
    this.#sources = sources
  }

  /**
   * Looks at all devices. Call it once a second: very many are looked at less often, so that it takes a twentieth of the time at
   * most.
   */
  async look(): Promise<void> {
    await this.#counted()
  }

  /** Returns the number of configured devices in each condition. */
  vans(scope: Scope): Omit<ReturnType<DeviceSurvey['countsOf']>, 'unknown'> {
    const { unknown: _unknown, ...counts } = this.#survey.countsOf((company) => scope.sees(company))
    return counts
  }

  /** Returns how many moving vans have not been heard for a minute, and for longer than usual, but are not silent yet. */
  overdue(scope: Scope): number {
    return [...this.#overdue].reduce((sum, [company, count]) => sum + (scope.sees(company) ? count : 0), 0)
  }

  /** Resolves to the number of configured devices in each state, at most a second old. Rejects if Redis does not answer. */
  async states(): Promise<Readonly<Record<DeviceState, number>>> {
    await this.#sources.index.catchUp()
    await this.look()
    return this.#states
  }

  /** Groups of devices with the same trouble. */
  groups(): ReturnType<DeviceSurvey['groups']> {
    return this.#survey.groups()
  }

  /** Vans that fell silent together. */
  traffic(): StoppedTraffic[] {
    return this.#traffic.stops()
  }

  async #count(): Promise<number> {
    const { index, deafWays, directory, isExplained, knownTraffic } = this.#sources
    const now = Date.now()
    if (!this.#isStartKnown) {
      if (!index.isCurrent) return 0
      await this.#noteStart(now)
    }
    const jump = this.#jumps.take(now)
    if (jump !== 0) {
      this.#hasJumped = true
      index.deaf.add(now - jump, now)
    }
    for (const { sinceAt, bridge } of deafWays()) index.deaf.add(sinceAt, now, bridge)
    const known = knownTraffic()
    const vans: TrafficVan[] = []
    const overdue = new Map<string, number>()
    const survey = new DeviceSurvey(now)
    const states = { online: 0, offline: 0, never: 0 }
    let unknown = 0
    let busyMs = 0
    let began = performance.now()
    for (const device of index.inOrder) {
      device.stopped = this.#traffic.stoppedWith(device.id)
      const facts = factsOf(device, { index, roster: directory(), now })
      const isNamed = facts.isHeldUnknown && !device.entry && ++unknown <= MOST_NAMED
      const named = isNamed ? { ...facts, meant: meantBy(device, index) } : facts
      const condition = survey.add(named, known.sendingInVain.has(device.id))
      // Trackers may not have sent again since their bridge is back.
      const isReturning = now - index.deaf.endOf(device.heard?.remote ?? '') < RETURN_MS
      const van = isReturning ? undefined : trafficVan(device, facts, known)
      if (van) vans.push(van)
      if (van && isOverdue(van, condition, now - (facts.deafMs ?? 0)))
        overdue.set(van.company, (overdue.get(van.company) ?? 0) + 1)
      const state = stateOf(device, this.#sources, now)
      device.surveyed = surveyedAs(condition, state, mappingOf(device.entry, facts.route))
      if (device.entry && state) states[state]++
      // A device that falls silent counts as changed, although it sent nothing.
      if (device.told !== device.surveyed) index.touch(device.id)
      device.told = device.surveyed
      busyMs += performance.now() - began
      await yieldToEventLoop()
      began = performance.now()
    }
    this.#survey = survey
    this.#states = states
    const isWarm = performance.now() - this.#startedAt > WARM_MS
    // While Redis is away, or after this process has slept, the latest messages are not known.
    if (!index.isCurrent) return busyMs
    this.#overdue = isWarm ? overdue : new Map()
    if (this.#trafficKept === undefined) await this.#takeOverTraffic()
    this.#traffic.look(vans, { now, isExplained: this.#hasJumped || isExplained(now) })
    this.#hasJumped = false
    await this.#keepTraffic()
    return busyMs
  }

  /** Vans that fell silent together before this process began are still silent. */
  async #takeOverTraffic(): Promise<void> {
    this.#trafficKept = (await this.#sources.redis.get(keys.traffic)) ?? NOTHING
    this.#traffic.takeOver(this.#trafficKept)
  }

  async #keepTraffic(): Promise<void> {
    const kept = this.#traffic.kept()
    if (kept === this.#trafficKept) return
    await this.#sources.redis.set(keys.traffic, kept, 'EX', TRAFFIC_KEPT_S)
    this.#trafficKept = kept
  }

  /**
   * Notes for how long no gateway ran before those that run now: since a device was heard last before them, or a gateway
   * noted that it ran.
   */
  async #noteStart(now: number): Promise<void> {
    const { index, redis, zone } = this.#sources
    const { processes } = await readProcesses(redis)
    const gateways = processes.filter(({ role, ageMs }) => role === 'gateway' && ageMs < LIVES_MS)
    const began = Math.min(now, ...gateways.map(({ sinceAt }) => sinceAt))
    const last = localDay(began, zone())
    const days = [localDay(last.from - 1, zone()), last]
    const noted = await readDays(
      redis,
      '',
      days.map(({ from }) => from),
    )
    const ran = days.flatMap(({ from, until }, at) => {
      const minutes = Array.from({ length: (until - from) / MINUTE_MS }, (_, minute) => minute)
      return minutes.filter((minute) => noted[at].has('connected', minute)).map((minute) => from + minute * MINUTE_MS)
    })
    const ranUntil = (ran.findLast((minute) => minute < began) ?? -MINUTE_MS) + MINUTE_MS
    const heardAt = index.inOrder.reduce((latest, { heard }) => {
      return heard && heard.at < began ? Math.max(latest, heard.at) : latest
    }, 0)
    if (heardAt > 0) index.deaf.add(Math.max(heardAt, ranUntil), began)
    this.#isStartKnown = true
  }
}

function isOverdue(van: TrafficVan, condition: DeviceCondition, now: number): boolean {
  return (
    IS_SENDING.has(condition) &&
    van.usualMs > 0 &&
    !van.hasStood &&
    now - van.heardAt > OVERDUE_MS &&
    isMissing(van, now)
  )
}

/** Devices in the same condition share one object, to save memory. */
const surveyed = new Map<string, SurveyedDevice>()

function surveyedAs(
  condition: DeviceCondition,
  state: DeviceState | undefined,
  mapping: DeviceMapping,
): SurveyedDevice {
  const words = `${condition} ${state} ${mapping}`
  const known = surveyed.get(words) ?? { condition, state, mapping }
  surveyed.set(words, known)
  return known
}

const SHARE = 20
const IS_SENDING = new Set<DeviceCondition>(['moving', 'standing'])
const LIVES_MS = 10_000
const MINUTE_MS = 60_000
const RETURN_MS = 120_000
/** After a start, vans connect again. */
const WARM_MS = 90_000
const OVERDUE_MS = 60_000
/** If more unconfigured devices send than this, no finding names them one by one. */
const MOST_NAMED = 6
/** Value of `kept` if no van has stopped. */
const NOTHING = '[]'
const TRAFFIC_KEPT_S = 7 * 86_400
