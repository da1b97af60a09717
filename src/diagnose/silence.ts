import type { StoppedTraffic, TrafficVan, Trait } from './device-facts.ts'

/** `heardAt`: by our clock; `seenAt`: by that of its gateway. */
export interface JudgedVan extends TrafficVan {
  readonly seenAt: number
}

/** What is known of vans that fell silent together, before it is counted which are silent still. */
export type StopFound = Omit<StoppedTraffic, 'still' | 'named'>

/**
 * Returns the vans that have not been heard for longer than usual. If many messages are late and none arrives at all, that is
 * all vans, including those that send each minute.
 */
export function missingOf(vans: readonly JudgedVan[], now: number): JudgedVan[] {
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
export function spanOf(vans: readonly TrafficVan[]) {
  const span = { from: Infinity, until: -Infinity }
  for (const { heardAt } of vans) {
    span.from = Math.min(span.from, heardAt)
    span.until = Math.max(span.until, heardAt)
  }
  return span
}

/** Whether a van may have sent its next message only after this time: it may have been cut off then. */
export function covers({ heardAt, usualMs }: TrafficVan, at: number): boolean {
  return heardAt <= at && at <= heardAt + SLACK * usualMs + JITTER_MS
}

/** Returns the time at which most of these vans may have been cut off together; undefined: too few. */
export function cutOf(missing: readonly TrafficVan[]): number | undefined {
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
export function describeStop(
  fell: readonly JudgedVan[],
  lately: readonly JudgedVan[],
  cutAt: number,
): StopFound | undefined {
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

export function hasTrait(van: TrafficVan, trait: Trait | undefined): boolean {
  return !trait || van.traits().some(({ kind, value }) => kind === trait.kind && value === trait.value)
}

/** Fewer vans may have ended their work together. */
const LEAST = 5
/** So many vans are not switched off together. */
const MANY = 20
const MOST = 0.8
const HALF = 0.5
/** It is not clear yet whether a van that was heard so soon after the stop is cut off as well. */
export const NEAR_MS = 2000
/** How much later than usual a message may come. */
const SLACK = 1.25
const JITTER_MS = 5000
/** Silence of all vans for this time, although so many messages are due, is no coincidence. */
const QUIET_MS = 25_000
const EXPECTED = 12
