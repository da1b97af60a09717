import * as z from 'zod'
import { parse } from '../../http/refusal.ts'
import { takeOffers } from '../../roster/offers.ts'
import { Id } from '../../tracking/schemas.ts'
import type { Operation } from '../operation.ts'
import { Count, onceText } from '../schemas/parts.ts'
import { type RosterSources, refuseCompany } from './writes.ts'

/**
 * `POST /admin/roster/redeliver`: redelivers past fixes to the routes that files and pulled rosters have changed (finding
 * `redelivery_offered`). `DELETE`: drops the offer.
 */
export function offerOperations({ live, redis }: RosterSources): Operation[] {
  const taking =
    (isAccepted: boolean): Operation['handle'] =>
    async (request, _reply, scope) => {
      const { company_id } = parse(OfferQuery, request.query)
      refuseCompany(live, company_id, scope)
      request.company = company_id
      const offers = await takeOffers(redis, company_id, isAccepted)
      const fixes = offers.reduce((sum, offer) => sum + offer.fixes, 0)
      request.audit = isAccepted ? { redelivered: fixes } : { offers: offers.length }
      return { fixes }
    }
  const shared = {
    path: '/admin/roster/redeliver',
    query: OfferQuery,
    answer: z.object({ fixes: Count }),
    refusals: [404],
    companies: 'filtered',
  } as const
  return [
    {
      ...shared,
      method: 'POST',
      id: 'acceptRedelivery',
      summary: 'Deliver to their route as well what a file or a pulled roster replaced of the past',
      handle: taking(true),
    },
    {
      ...shared,
      method: 'DELETE',
      id: 'declineRedelivery',
      summary: 'Leave as it is what a file or a pulled roster replaced of the past',
      handle: taking(false),
    },
  ]
}

const OfferQuery = z.object({ company_id: onceText('the company whose positions these are').pipe(Id) })
