import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseBody, readBody } from '../body.ts'
import { parse, parseId, Refusal, refuseFields } from '../refusal.ts'
import { PushPositions } from '../schemas.ts'
import type { Access } from './access.ts'
import type { ServiceContext } from './context.ts'

interface PushRoute {
  Params: { courier_id: string; route_id: string }
  Querystring: { apikey?: unknown }
}

type PushRequest = Pick<FastifyRequest<PushRoute>, 'params' | 'query'>

/** §4.3. Answered once the positions are on disk. */
export function pushPositions(app: FastifyInstance, context: ServiceContext): void {
  app.post<PushRoute>('/api/v1/couriers/:courier_id/routes/:route_id/push-positions-v3', {
    onRequest: async (request) => {
      request.companyId = companyOfPush(context, request)
    },
    handler: async ({ companyId, headers, params, raw }, reply) => {
      const { positions } = parse(PushPositions, parseBody(await readBody(raw), headers['content-type']))
      await context.positions.append({ companyId, courierId: params.courier_id, routeId: params.route_id, positions })
      return reply.send({})
    },
  })
}

/** The company whose courier drives the route; everything that can be refused before the body is read. */
function companyOfPush({ access, lanes }: ServiceContext, { params, query }: PushRequest): string {
  const owners = ownersOfApikey(access, query.apikey)
  const courierId = parseId(params.courier_id, 'courier_id')
  const routeId = parseId(params.route_id, 'route_id')
  for (const owner of owners) if (lanes.has(owner, courierId, routeId)) return owner
  const employers = lanes.companiesOfCourier(courierId)
  if (employers.length === 0) throw new Refusal(404, `there is no courier ${courierId}`)
  if (!employers.some((company) => owners.has(company)))
    throw new Refusal(403, `the apikey gives no access to courier ${courierId}`)
  throw new Refusal(404, `courier ${courierId} has no route ${routeId}`)
}

function ownersOfApikey(access: Access, apikey: unknown): ReadonlySet<string> {
  if (typeof apikey !== 'string' || apikey === '')
    throw refuseFields(422, [{ path: 'apikey', message: 'this query parameter is needed, once' }])
  const owners = access.companiesOfApikey(apikey)
  if (owners.size === 0) throw new Refusal(403, 'the apikey is not known')
  return owners
}
