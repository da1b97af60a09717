import { counted, joined, say, type Template, type Text } from '../texts/text.ts'
import type { StoppedTraffic, StoppedWith, TrafficVan, Trait } from './device-facts.ts'
import type { Facts, Found } from './facts.ts'

/** Vans that fell silent together. */
interface Stop {
  readonly cutAt: number
  /** Vans that are silent since. */
  readonly silent: Map<string, SilentVan>
  /** Its description; it is final once all vans must have been heard. */
  said: Omit<StoppedTraffic, 'still' | 'named'>
  /** Number of vans that were heard again. */
  returned: number
}

interface SilentVan {
  /** When it was heard last. */
  readonly lastAt: number
  /** When it was found to be one of them. */
  readonly foundAt: number
}

interface TrafficLook {
  readonly now: number
  /** Whether something else explains that vans are not heard. */
  readonly isExplained: boolean
}

/**
 * Watches for vans that fall silent together. Messages from before the watch had run for a minute do not count. Instants in
 * ms UTC.
 */
export class TrafficWatch {
  #startedAt: number
  #stops: Stop[] = []
  #explainedAt = -Infinity
  /** By gateway: the least time since its vans were last heard, by which its clock may be behind ours. */
  #behindMs = new Map<string, number>()

  constructor(startedAt = Date.now()) {
    this.#startedAt = startedAt
  }

  /** With whom a van fell silent, if it was not heard since; undefined: it did not. */
  stoppedWith(id: string): StoppedWith | undefined {
    for (const { said, silent } of this.#stops) {
      const own = silent.get(id)
      if (own) return { of: said.company === undefined ? 'companies' : 'company', foundAt: own.foundAt }
    }
    return undefined
  }

  /** Returns the traffic that stopped and has not resumed. Call it with all vans that should be heard. */
  look(vans: readonly TrafficVan[], { now, isExplained }: TrafficLook): void {
    // Our clock may have been set back.
    this.#startedAt = Math.min(this.#startedAt, now)
    if (isExplained) this.#explainedAt = now
    this.#endThoseThatAreHeard(vans)
    this.#learnClocks(vans, now)
    if (now - this.#explainedAt < GRACE_MS) return
    const lately = vans.flatMap((van) => {
      const heardAt = van.heardAt + (this.#behindMs.get(van.gateway) ?? 0)
      const counts = heardAt - this.#startedAt >= WARM_MS && now - heardAt <= LATELY_MS
      return counts ? [{ ...van, heardAt, seenAt: van.heardAt }] : []
    })
    const missing = missingOf(lately, now)
    for (const stop of this.#stops) this.#grow(stop, { lately, missing, now })
    const free = missing.filter(({ id }) => !this.stoppedWith(id))
    const cutAt = cutOf(free)
    if (cutAt !== undefined) this.#begin(cutAt, { lately, missing: free, now })
  }

  /** Returns everything known of the stopped traffic, as JSON, for the watch of the next process. */
  kept(): string {
    return JSON.stringify(this.#stops.map((stop) => ({ ...stop, silent: [...stop.silent] })))
  }

  /** Takes over what another watch has kept. What was heard since ends at the next look. */
  takeOver(kept: string): void {
    const stops = JSON.parse(kept) as (Omit<Stop, 'silent'> & { silent: [string, SilentVan][] })[]
    this.#stops = stops.map((stop) => ({ ...stop, silent: new Map(stop.silent) }))
  }

  /** Returns the stopped traffic that has not resumed. */
  stops(): StoppedTraffic[] {
    return this.#stops.map(({ said, silent }) => {
      return { ...said, still: silent.size, named: [...silent.keys()].slice(0, NAMED) }
    })
  }

  #endThoseThatAreHeard(vans: readonly TrafficVan[]): void {
    if (this.#stops.length === 0) return
    const heardAt = new Map(vans.map((van) => [van.id, van.heardAt]))
    for (const stop of this.#stops)
      for (const [id, { lastAt }] of stop.silent)
        if (heardAt.get(id) !== lastAt && stop.silent.delete(id)) stop.returned++
    this.#stops = this.#stops.filter(({ silent, returned }) => silent.size >= returned)
  }

  #learnClocks(vans: readonly TrafficVan[], now: number): void {
    const before = this.#behindMs
    this.#behindMs = new Map()
    for (const { gateway, heardAt } of vans) {
      const known = this.#behindMs.get(gateway) ?? before.get(gateway) ?? Infinity
      this.#behindMs.set(gateway, Math.max(0, Math.min(known, now - heardAt)))
    }
  }

  #begin(cutAt: number, { lately, missing, now }: Judged): void {
    if (now - cutAt < LEAST_MS) return
    // A van that was not heard again after that may still be coming back.
    if (cutAt <= this.#explainedAt && now - this.#explainedAt < RETURN_MS) return
    const fell = missing.filter((van) => covers(van, cutAt))
    const open = lately.filter(({ heardAt }) => heardAt <= cutAt + NEAR_MS).length - fell.length
    // Those that send seldom are not judged yet.
    if (open > fell.length / 4 && now - cutAt < JUDGED_MS) return
    const said = describe(fell, lately, cutAt)
    if (!said) return
    const own = said.shared ? fell.filter((van) => hasTrait(van, said.shared)) : fell
    const silent = new Map(own.map(({ id, seenAt }) => [id, { lastAt: seenAt, foundAt: now }]))
    this.#stops.push({ cutAt, said, silent, returned: 0 })
  }

  /** Vans that send seldom are missing later. */
  #grow(stop: Stop, { lately, missing, now }: Judged): void {
    const { cutAt, said, silent } = stop
    if (now - cutAt > GROWS_MS) return
    const more = missing.filter((van) => !this.stoppedWith(van.id) && covers(van, cutAt) && hasTrait(van, said.shared))
    if (more.length === 0) return
    for (const { id, seenAt } of more) silent.set(id, { lastAt: seenAt, foundAt: now })
    const fell = silent.size + stop.returned
    const { shared } = said
    const own = shared ? lately.filter((van) => hasTrait(van, shared)) : lately
    const of = own.filter(({ heardAt }) => heardAt > cutAt + NEAR_MS).length + more.length + said.vans
    const { from, until } = spanOf(more)
    stop.said = {
      ...said,
      company: more.every(({ company }) => company === said.company) ? said.company : undefined,
      vans: fell,
      of: Math.max(fell, Math.min(of, own.length)),
      fromAt: Math.min(said.fromAt, from),
      untilAt: Math.max(said.untilAt, until),
    }
  }
}

interface Judged {
  /** Heard within a quarter of an hour. */
  readonly lately: readonly JudgedVan[]
  readonly missing: readonly JudgedVan[]
  readonly now: number
}

/** `heardAt`: by our clock; `seenAt`: by that of its gateway. */
interface JudgedVan extends TrafficVan {
  readonly seenAt: number
}

/**
 * Returns the vans that have not been heard for longer than usual. If many messages are late and none arrives at all, that is
 * all vans, including those that send each minute.
 */
function missingOf(vans: readonly JudgedVan[], now: number): JudgedVan[] {
  const known = vans.filter(({ usualMs }) => usualMs > 0)
  const isQuiet = now - spanOf(vans).until >= QUIET_MS
  const late = known.filter(({ heardAt, usualMs }) => now - heardAt > usualMs + JITTER_MS).length
  return isQuiet && late >= EXPECTED ? known : known.filter((van) => isMissing(van, now))
}

/** Whether a van has not been heard for clearly longer than usual. */
export function isMissing({ heardAt, usualMs }: Pick<TrafficVan, 'heardAt' | 'usualMs'>, now: number): boolean {
  return now - heardAt > SLACK * usualMs + JITTER_MS
}

/** Returns when the first and the last of these vans were last heard. */
function spanOf(vans: readonly TrafficVan[]) {
  const span = { from: Infinity, until: -Infinity }
  for (const { heardAt } of vans) {
    span.from = Math.min(span.from, heardAt)
    span.until = Math.max(span.until, heardAt)
  }
  return span
}

/** Whether a van may have sent its next message only after this time: it may have been cut off then. */
function covers({ heardAt, usualMs }: TrafficVan, at: number): boolean {
  return heardAt <= at && at <= heardAt + SLACK * usualMs + JITTER_MS
}

/** Returns the time at which most of these vans may have been cut off together; undefined: too few. */
function cutOf(missing: readonly TrafficVan[]): number | undefined {
  if (missing.length < LEAST) return undefined
  const ends = missing.flatMap(({ heardAt, usualMs }) => [
    { at: heardAt, change: 1 },
    { at: heardAt + SLACK * usualMs + JITTER_MS + 1, change: -1 },
  ])
  let open = 0
  let best = { open: LEAST - 1, at: undefined as number | undefined }
  for (const { at, change } of ends.toSorted((a, b) => a.at - b.at || a.change - b.change)) {
    open += change
    if (open > best.open) best = { open, at }
  }
  return best.at
}

/** Describes the event of these vans; undefined: too few of the others fell silent for it to be one event. */
function describe(fell: readonly JudgedVan[], lately: readonly JudgedVan[], cutAt: number): Stop['said'] | undefined {
  const heard = lately.filter(({ heardAt }) => heardAt > cutAt + NEAR_MS)
  // Those that fell silent earlier did not fall silent now.
  const ids = new Set(fell.map(({ id }) => id))
  const earlier = lately.filter((van) => van.heardAt <= cutAt && !ids.has(van.id) && !covers(van, cutAt))
  const others = [...heard, ...earlier]
  const { best, isExact, also } = sharedBy(fell, others)
  const share = fell.length / (fell.length + others.length)
  const isAll = share >= MOST
  const shared = best && (!isAll || (isExact && others.length > 0)) ? best : undefined
  if (!shared && !isAll && (share < HALF || fell.length < 2 * LEAST)) return undefined
  const isOwn = (van: TrafficVan) => hasTrait(van, shared)
  const own = fell.filter(isOwn)
  // Vans that stand may have been switched off one after another.
  if (own.length < MANY && own.every(({ hasStood }) => hasStood)) return undefined
  const ownOthers = others.filter(isOwn)
  const company = shared?.kind === 'gateway' ? undefined : companyOf([...own, ...ownOthers])
  // A company is not told how many vans others have.
  const isCounted = (van: TrafficVan) => !isOwn(van) && (company === undefined || van.company === company)
  const silent = fell.filter(isCounted).length
  const { from, until } = spanOf(own)
  return {
    vans: own.length,
    of: own.length + ownOthers.length,
    fromAt: from,
    untilAt: until,
    company,
    shared: shared && { ...shared, others: silent + others.filter(isCounted).length, othersSilent: silent, also },
  }
}

/** The company of all these vans, if it is one. */
function companyOf(vans: readonly TrafficVan[]): string | undefined {
  const [{ company }] = vans
  return vans.every((van) => van.company === company) ? company : undefined
}

/**
 * Returns the common trait of these vans that the others do not have. `isExact`: all of these have it, and none of the
 * others; `also`: further traits that fit.
 */
function sharedBy(fell: readonly TrafficVan[], others: readonly TrafficVan[]) {
  const [own, foreign] = [countTraits(fell), countTraits(others)]
  const fitting = [...own].flatMap(([key, { count, trait }]) => {
    const without = foreign.get(key)?.count ?? 0
    const [purity, cover] = [count / (count + without), count / fell.length]
    // A trait of all others as well distinguishes nothing.
    const isOfAll = others.length > 0 && without === others.length
    const fits = count >= LEAST && purity >= MOST && cover >= MOST && !isOfAll
    return fits ? [{ trait, score: purity + cover }] : []
  })
  const bestScore = fitting.reduce((most, { score }) => Math.max(most, score), 0)
  const [best, ...also] = fitting.filter(({ score }) => score === bestScore).map(({ trait }) => trait)
  // The narrowest of several networks is enough.
  const isOther = ({ kind }: Trait, index: number) =>
    kind !== best?.kind && also.findIndex((one) => one.kind === kind) === index
  const isExact = bestScore === 2
  return { best: best as Trait | undefined, isExact, also: isExact ? also.filter(isOther) : [] }
}

function countTraits(vans: readonly TrafficVan[]): Map<string, { count: number; readonly trait: Trait }> {
  const counts = new Map<string, { count: number; readonly trait: Trait }>()
  for (const van of vans)
    for (const trait of van.traits()) {
      const key = `${trait.kind} ${trait.value}`
      const known = counts.get(key)
      if (known) known.count++
      else counts.set(key, { count: 1, trait })
    }
  return counts
}

function hasTrait(van: TrafficVan, trait: Trait | undefined): boolean {
  return !trait || van.traits().some(({ kind, value }) => kind === trait.kind && value === trait.value)
}

/** A finding for each time that vans fell silent together. */
export function trafficTroubles({ traffic = [], nameOf }: Facts): Found[] {
  return traffic.map(({ company, fromAt, named, of, shared, still, untilAt, vans }): Found => {
    const seconds = Math.max(1, Math.ceil((untilAt - fromAt) / 1000))
    const [from, until] = [fromAt, untilAt].map((at) => new Date(at).toISOString())
    const names = named.map((id) => nameOf?.(id) ?? id).join(', ')
    const nothing = shared || vans === of ? [] : [say('nothing that is known of them sets them apart from the others')]
    return {
      code: 'traffic_stopped',
      subject: company === undefined ? {} : { company_id: company },
      count: still,
      sinceAt: fromAt,
      message: shared
        ? say('{} of {} vans {} fell silent within {} s', vans, of, traitText(shared), seconds)
        : say('{} of {} vans fell silent within {} s', vans, of, seconds),
      action: say(shared ? ACTIONS[shared.kind] : ACTIONS.all),
      evidence: [
        say('heard last between {} and {}', from, until),
        ...(shared ? sharedTexts(shared) : nothing),
        counted(still, '{} van is silent still', '{} vans are silent still'),
        still > named.length ? say('{} and {} more', names, still - named.length) : names,
      ],
    }
  })
}

function sharedTexts({ also, others, othersSilent }: NonNullable<StoppedTraffic['shared']>): Text[] {
  return [
    ...(others > 0 ? [say('of {} other vans {} fell silent then', others, othersSilent)] : []),
    ...(also.length > 0 ? [say('this fits them alone, too: {}', joined(also.map(traitText), ', '))] : []),
  ]
}

function traitText({ kind, value }: Trait): Text {
  return joined([say(TRAITS[kind]), value], ' ')
}

const TRAITS = {
  port: 'at port',
  protocol: 'that speak',
  gateway: 'at the gateway',
  company: 'of company',
  model: 'of the model',
  network: 'from the network',
} as const satisfies Record<Trait['kind'], Template>
const ACTIONS = {
  all: 'check what is between the trackers and this server: its address and port forwarding, the firewall, the mobile network',
  port: 'check the way to this port: the firewall, the port forwarding, a load balancer in front of it',
  protocol: 'check the way to the port of this protocol, and what was changed in all these trackers',
  gateway: 'check this machine and its network; ending the gateway lets its trackers connect elsewhere',
  company: 'ask the company what it has changed: the SIM contract, the APN, or the address in its trackers',
  model: 'ask the maker of the trackers, and whoever sends them settings or new firmware',
  network: 'ask the operator of this network, and check that no firewall blocks it',
} as const satisfies Record<Trait['kind'] | 'all', Template>
/** Fewer vans may have ended their work together. */
const LEAST = 5
/** So many vans are not switched off together. */
const MANY = 20
const MOST = 0.8
const HALF = 0.5
/** Time after the last of them was heard. */
const LEAST_MS = 30_000
/** It is not clear yet whether a van that was heard so soon after the stop is cut off as well. */
const NEAR_MS = 2000
/** How much later than usual a message may come. */
const SLACK = 1.25
const JITTER_MS = 5000
/** Silence of all vans for this time, although so many messages are due, is no coincidence. */
const QUIET_MS = 25_000
const EXPECTED = 12
const LATELY_MS = 900_000
/** After a shorter watch it is not known how often vans send. */
const WARM_MS = 60_000
/** After a cause of silence has ended, trackers connect again. */
const GRACE_MS = 45_000
/** By this time all vans have come back that can. */
const RETURN_MS = 120_000
const JUDGED_MS = 50_000
/** Later vans fall silent for reasons of their own. */
const GROWS_MS = 180_000
const NAMED = 5
