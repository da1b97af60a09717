import { ApiRefusal, parseId, refuseFields } from '../refusal.ts'
import { PushPositions } from '../schemas.ts'
import type { Access } from './access.ts'
import type { ServiceContext } from './context.ts'
import { bodyOf, type OperationRequest, type ServedOperation } from './operation.ts'

/** §4.3. Answered once the positions are on disk. */
export const pushPositions: ServedOperation = {
  admit: async (context, request) => {
    const companyId = companyOfPush(context, request)
    if (companyId === undefined) await context.catchUp?.()
    request.companyId = companyId ?? companyOfPush(context, request) ?? refuseLane(context, request)
  },
  answer: async (context, request) => {
    const { companyId, params } = request
    const { positions } = await bodyOf(request, PushPositions)
    await context.positions.append({ companyId, courierId: params.courier_id, routeId: params.route_id, positions })
    return {}
  },
}

/** The company whose courier drives the route. @throws ApiRefusal for everything else that can be refused before the body is read */
function companyOfPush({ access, lanes }: ServiceContext, request: OperationRequest): string | undefined {
  const { owners, courierId, routeId } = laneOf(access, request)
  for (const owner of owners) if (lanes.has(owner, courierId, routeId)) return owner
  return undefined
}

function refuseLane({ access, lanes }: ServiceContext, request: OperationRequest): never {
  const { owners, courierId, routeId } = laneOf(access, request)
  const employers = lanes.companiesOfCourier(courierId)
  if (employers.length === 0) throw new ApiRefusal(404, `there is no courier ${courierId}`)
  if (!employers.some((company) => owners.has(company)))
    throw new ApiRefusal(403, `the apikey gives no access to courier ${courierId}`)
  throw new ApiRefusal(404, `courier ${courierId} has no route ${routeId}`)
}

function laneOf(access: Access, { params, query }: OperationRequest) {
  return {
    owners: ownersOfApikey(access, query.apikey),
    courierId: parseId(params.courier_id, 'courier_id'),
    routeId: parseId(params.route_id, 'route_id'),
  }
}

function ownersOfApikey(access: Access, apikey: unknown): ReadonlySet<string> {
  if (typeof apikey !== 'string' || apikey === '')
    throw refuseFields(422, [{ path: 'apikey', message: 'this query parameter is needed, once' }])
  const owners = access.companiesOfApikey(apikey)
  if (owners.size === 0) throw new ApiRefusal(403, 'the apikey is not known')
  return owners
}
