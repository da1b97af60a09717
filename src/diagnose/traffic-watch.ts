import type { StoppedTraffic, StoppedWith, TrafficVan } from './device-facts.ts'
import {
  covers,
  cutOf,
  describeStop,
  hasTrait,
  type JudgedVan,
  missingOf,
  NEAR_MS,
  type StopFound,
  spanOf,
} from './silence.ts'

/** Vans that fell silent together. */
interface Stop {
  readonly cutAt: number
  /** Vans that are silent since. */
  readonly silent: Map<string, SilentVan>
  /** Its description; it is final once all vans must have been heard. */
  said: StopFound
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
    const said = describeStop(fell, lately, cutAt)
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

/** Time after the last of them was heard. */
const LEAST_MS = 30_000
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
