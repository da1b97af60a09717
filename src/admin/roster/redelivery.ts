import type { FastifyRequest } from 'fastify'
import type * as z from 'zod'
import { laneIds } from '../../domain/ids.ts'
import { offersOf, redeliverAgreed } from '../../roster/offers.ts'
import type { Move, Redelivery } from '../../roster/redelivery.ts'
import type { FieldTexts } from '../../roster/table.ts'
import type { Store } from '../../store/index.ts'
import type { WithTexts } from '../../texts/language.ts'
import { say } from '../../texts/text.ts'
import { instant } from '../json.ts'
import type { Flag } from '../schemas/parts.ts'
import type { RedeliverJson } from '../schemas/roster.ts'

/** Returns what a change of the roster means for delivered fixes; nothing if it concerns no kept past. */
export function redeliverJson(redelivery: Redelivery | undefined): { redeliver?: WithTexts<RedeliverJson> } {
  if (!redelivery) return {}
  const { moves, interval, keptSince } = redelivery
  const fixes = fixesOf(redelivery)
  const [first] = moves
  const isOne = first && moves.every(({ from, to }) => from === first.from && to === first.to)
  return {
    redeliver: {
      fixes,
      ...(isOne && { from: placeJson(first.from), to: placeJson(first.to) }),
      from_at: instant(interval.from * 1000) ?? '',
      until_at: instant(interval.until * 1000) ?? '',
      kept_since_at: instant(keptSince) ?? '',
      moves: moves.slice(0, MOST_MOVES).map(moveJson),
      message:
        fixes === 0
          ? say('no kept position of these times has to be delivered once more')
          : say('the API has no deletion: these positions stay with the route that has them as well'),
    },
  }
}

function moveJson({ device: { id, name }, from, to, fixes, first, last }: Move) {
  const times = { first_at: instant(first * 1000) ?? '', last_at: instant(last * 1000) ?? '' }
  return { device: id, name, fixes, from: placeJson(from), to: placeJson(to), ...times }
}

function placeJson(lane: string) {
  const { route_id, courier_id } = laneIds(lane)
  return { route_id, courier_id }
}

function fixesOf({ moves }: Redelivery): number {
  return moves.reduce((sum, { fixes }) => sum + fixes, 0)
}

/** For the audit log: the number of fixes, the devices, the old and the new route. */
export function redeliveryAudit(redelivery: Redelivery) {
  const named = redelivery.moves.slice(0, MOST_IN_AUDIT)
  const moves = named.map(({ device: { id }, fixes, from, to }) => `${id}: ${fixes} from ${from} to ${to}`)
  return { redelivered: fixesOf(redelivery), moves: moves.join('; ') }
}

/** What a change of the roster has done. */
interface RosterChanged {
  /** For the audit log; absent if nothing was to be written. */
  readonly summary?: FastifyRequest['audit']
  /** The roster version of the write; undefined: nothing was written. */
  readonly version?: number
  readonly redelivery?: Redelivery
  /** `true`: the fixes of the past that it concerns are wanted where they belong. */
  readonly redeliver?: z.infer<typeof Flag>
}

/** Returns what to store in the write of a change, so that the fixes that it concerns are redelivered whatever happens after it. */
export function agreedOffers(
  redelivery: Redelivery | undefined,
  { asOf, redeliver, writer }: { readonly asOf: number; readonly writer: string } & Pick<RosterChanged, 'redeliver'>,
): FieldTexts {
  return offersOf(redelivery, { asOf, decision: redeliver === 'true' ? 'always' : 'never', writer })
}

/** Redelivers the fixes that a change concerns if that is wanted, and notes the change for the audit log. */
export async function noteChange(
  request: FastifyRequest,
  redis: Store,
  { summary, version, redelivery, redeliver: wanted }: RosterChanged,
): Promise<void> {
  const isRedelivered = redelivery && version !== undefined && wanted === 'true'
  if (wanted === 'true') await redeliverAgreed(redis)
  request.audit = summary && { ...summary, ...(isRedelivered && redeliveryAudit(redelivery)) }
}

const MOST_MOVES = 1000
const MOST_IN_AUDIT = 20
