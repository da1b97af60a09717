import { type Correction, keys, type Store } from '../store/index.ts'
import { planDeliveredElsewhere, type Redelivery, redeliver } from './redelivery.ts'
import type { Roster } from './roster.ts'
import type { FieldTexts } from './table.ts'

/** Fixes of a company that were delivered by lines which a file or a pulled roster has replaced; stored until somebody decides. */
export interface Offer {
  readonly company_id: string
  /** The files, or the pulled roster. */
  readonly writer: string
  /** ms UTC. */
  readonly at: number
  readonly fixes: number
  /** Names of the devices. */
  readonly vans: readonly string[]
  readonly corrections: readonly Omit<Correction, 'at'>[]
  /** The roster version that the write replaced. */
  readonly asOf: number
  /** By `roster.redeliver`: nobody is asked. */
  readonly isAgreed?: boolean
}

/**
 * Returns the offers to store in the write of a file that they come from, depending on `roster.redeliver`: a process that ends
 * after the write, or does not hear of its success, would not find the same changes again. @param asOf the version before the
 * write
 */
export function offersOf(
  redelivery: Redelivery | undefined,
  { asOf, decision, writer }: { readonly asOf: number; readonly decision: Decision; readonly writer: string },
): FieldTexts {
  if (!redelivery || decision === 'never') return []
  const { corrections, moves } = redelivery
  const about = { writer, at: Date.now(), asOf }
  if (decision === 'always')
    return [stored({ ...about, company_id: '', fixes: 0, vans: [], corrections, isAgreed: true })]
  const companies = Map.groupBy(moves, ({ device }) => device.company_id)
  return Array.from(companies, ([company_id, own]) => {
    const ids = new Set(own.map(({ device }) => device.id))
    return stored({
      ...about,
      company_id,
      fixes: own.reduce((sum, { fixes }) => sum + fixes, 0),
      vans: vansIn(own),
      corrections: corrections.filter(({ device }) => ids.has(device)),
    })
  })
}

type Decision = 'ask' | 'always' | 'never'

/** Redelivers the fixes of offers about which nobody is asked. Call it after a write, and again if it rejects. */
export async function redeliverAgreed(redis: Store): Promise<void> {
  for (const offer of await readAll(redis)) {
    if (!offer.isAgreed) continue
    await redeliver(redis, offer)
    await redis.hdel(OFFERS, fieldOf(offer))
  }
}

function vansIn(moves: Redelivery['moves']): string[] {
  return [...new Set(moves.map(({ device: { id, name = id } }) => name))]
}

/** The offers about which somebody is asked. */
export async function readOffers(redis: Store): Promise<Offer[]> {
  return (await readAll(redis)).filter(({ isAgreed }) => !isAgreed)
}

async function readAll(redis: Store): Promise<Offer[]> {
  return Object.values(await redis.hgetall(OFFERS)).map((json) => JSON.parse(json) as Offer)
}

/** Deletes the offers of a company, and returns them. `isAccepted`: their fixes are redelivered first. */
export async function takeOffers(redis: Store, company_id: string, isAccepted: boolean): Promise<Offer[]> {
  const offers = (await readOffers(redis)).filter((offer) => offer.company_id === company_id)
  if (isAccepted) for (const offer of offers) await redeliver(redis, offer)
  const taken = await Promise.all(
    offers.map(async (offer) => ((await redis.hdel(OFFERS, fieldOf(offer))) > 0 ? [offer] : [])),
  )
  return taken.flat()
}

/**
 * Counts the offered fixes again, by the roster in effect, each in the latest offer that concerns it, and drops outdated
 * offers: the file was corrected, or the kept fixes are gone. Leaves an offer whose write is not yet in effect here.
 * @param version that of the roster in effect
 */
export async function refreshOffers(
  redis: Store,
  { roster, version, keepMs }: { readonly roster: Roster; readonly version: number; readonly keepMs: number },
): Promise<Offer[]> {
  const left: Offer[] = []
  const later = new Map<string, OfferedTimes[]>()
  for (const offer of (await readOffers(redis)).toSorted((one, other) => other.at - one.at)) {
    if (version <= offer.asOf) {
      left.push(offer)
      continue
    }
    const parts = offer.corrections.flatMap((times) => timesOutside(times, later.get(times.device)))
    const plans = await Promise.all(
      parts.map(({ device, from, until }) => {
        const interval = { from: from / 1000, until: until / 1000 }
        return planDeliveredElsewhere(redis, { roster, devices: roster.entriesOf([device]), interval, keepMs })
      }),
    )
    const moves = plans.flatMap((plan) => plan?.moves ?? [])
    const fixes = moves.reduce((sum, move) => sum + move.fixes, 0)
    const changed = { ...offer, fixes, vans: vansIn(moves) }
    // The lanes of an offer whose fixes are counted in a later one may still hold fixes that wait.
    const isRepeated = offer.corrections.some((times) => !parts.includes(times))
    // A van that is not configured may come back while its fixes are kept.
    const mayReturn = offer.at > Date.now() - keepMs && offer.corrections.some(({ device }) => !roster.find(device))
    if (fixes === 0 && !isRepeated && !mayReturn) {
      await redis.hdel(OFFERS, fieldOf(offer))
      continue
    }
    left.push(changed)
    for (const times of offer.corrections) later.set(times.device, [...(later.get(times.device) ?? []), times])
    if (fixes !== offer.fixes) await redis.run('offers', [OFFERS], [fieldOf(offer), JSON.stringify(changed)])
  }
  return left
}

type OfferedTimes = Pick<Correction, 'device' | 'from' | 'until'>

/** The parts of the times of a device that are in none of the others; `times` itself if it is all. */
function timesOutside(times: OfferedTimes, others: readonly OfferedTimes[] = []): OfferedTimes[] {
  return others.reduce(
    (parts, { from, until }) =>
      parts.flatMap((part) => {
        if (part.until <= from || until <= part.from) return part
        return [
          { ...part, until: from },
          { ...part, from: until },
        ].filter((rest) => rest.from < rest.until)
      }),
    [times],
  )
}

function stored(offer: Offer): FieldTexts[number] {
  return [fieldOf(offer), JSON.stringify(offer)]
}

function fieldOf({ company_id, writer, at }: Offer): string {
  return `${company_id} ${at} ${writer}`
}

const OFFERS = keys.roster('offers')
