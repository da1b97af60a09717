import * as z from 'zod'
import { ApiRefusal, parse, refuseFields } from '../../http/refusal.ts'
import { planDeliveredElsewhere, redeliver } from '../../roster/redelivery.ts'
import { say } from '../../texts/text.ts'
import type { Operation } from '../operation.ts'
import { redeliverJson, redeliveryAudit } from '../roster/redelivery.ts'
import { closedQuery, Flag } from '../schemas/parts.ts'
import { instantIn, type RosterSources } from '../roster/writes.ts'
import { RedeliveredJson } from '../schemas/roster.ts'
import { readJson } from './assign.ts'
import { devicesMeant } from './assignment-plan.ts'

/** `POST /admin/devices/{id}/redeliver`: delivers what the present roster places elsewhere than it was delivered. */
export function redeliverOperation({ live, redis }: RosterSources): Operation {
  return {
    method: 'POST',
    path: '/admin/devices/{id}/redeliver',
    id: 'redeliverDevice',
    summary: 'Deliver the kept fixes of a time once more where the present roster places them, unless they are there',
    query: RedeliverQuery,
    body: RedeliverBody,
    answer: RedeliveredJson,
    refusals: [404, 409, 415],
    companies: 'filtered',
    async handle(request, _reply, scope) {
      const { id } = request.params as { id: string }
      const { dry_run } = parse(RedeliverQuery, request.query)
      const { from_at, until_at } = parse(RedeliverBody, await readJson(request))
      const interval = { from: instantIn(live, 'from_at', from_at), until: instantIn(live, 'until_at', until_at) }
      if (interval.until <= interval.from)
        throw refuseFields(422, [{ path: 'until_at', message: say('not after from_at') }])
      await live.catchUp()
      const roster = live.directory()
      const devices = devicesMeant(roster, id, { field: 'id', scope })
      const keepMs = live.config.keep.delivered
      const redelivery = await planDeliveredElsewhere(redis, { roster, devices, interval, keepMs })
      if (!redelivery) throw new ApiRefusal(409, say('no delivered fixes are kept: see keep in gateway.yaml'))
      if (dry_run !== 'true') {
        await redeliver(redis, redelivery)
        request.audit = redeliveryAudit(redelivery)
      }
      return redeliverJson(redelivery)
    },
  }
}

const RedeliverQuery = closedQuery({ dry_run: Flag })
const RedeliverBody = z.strictObject({
  from_at: z.string('expected one time'),
  until_at: z.string('expected one time'),
})
