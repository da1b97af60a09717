import { type Correction, keys, type Store } from '../store/index.ts'
import { planDeliveredElsewhere, type Redelivery, redeliver } from './redelivery.ts'
import type { Roster } from './roster.ts'

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
}

/** Redelivers the fixes that a written file concerns, offers to, or does neither, depending on `roster.redeliver`. */
export async function decideRedelivery(
  redis: Store,
  redelivery: Redelivery | undefined,
  { writer, decision }: { readonly writer: string; readonly decision: 'ask' | 'always' | 'never' },
): Promise<void> {
  if (!redelivery || decision === 'never') return
  if (decision === 'always') return redeliver(redis, redelivery)
  const companies = Map.groupBy(redelivery.moves, ({ device }) => device.company_id)
  for (const [company_id, moves] of companies) {
    const ids = new Set(moves.map(({ device }) => device.id))
    const offer: Offer = {
      company_id,
      writer,
      at: Date.now(),
      fixes: moves.reduce((sum, { fixes }) => sum + fixes, 0),
      vans: vansIn(moves),
      corrections: redelivery.corrections.filter(({ device }) => ids.has(device)),
    }
    await redis.hset(OFFERS, fieldOf(offer), JSON.stringify(offer))
  }
}

function vansIn(moves: Redelivery['moves']): string[] {
  return [...new Set(moves.map(({ device: { id, name = id } }) => name))]
}

export async function readOffers(redis: Store): Promise<Offer[]> {
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
 * Counts the offered fixes again, by the roster in effect, and drops outdated offers: the file was corrected, or the kept
 * fixes are gone.
 */
export async function refreshOffers(redis: Store, roster: Roster, keepMs: number): Promise<Offer[]> {
  const left: Offer[] = []
  for (const offer of await readOffers(redis)) {
    const plans = await Promise.all(
      offer.corrections.map(({ device, from, until }) => {
        const interval = { from: from / 1000, until: until / 1000 }
        return planDeliveredElsewhere(redis, { roster, devices: roster.entriesOf([device]), interval, keepMs })
      }),
    )
    const moves = plans.flatMap((plan) => plan?.moves ?? [])
    const fixes = moves.reduce((sum, move) => sum + move.fixes, 0)
    const changed = { ...offer, fixes, vans: vansIn(moves) }
    if (fixes === 0) await redis.hdel(OFFERS, fieldOf(offer))
    else left.push(changed)
    if (fixes > 0 && fixes !== offer.fixes)
      await redis.run('offers', [OFFERS], [fieldOf(offer), JSON.stringify(changed)])
  }
  return left
}

function fieldOf({ company_id, writer, at }: Offer): string {
  return `${company_id} ${at} ${writer}`
}

const OFFERS = keys.roster('offers')
