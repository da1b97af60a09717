import { ApiRefusal, parseId } from '../refusal.ts'
import type { ServiceContext } from './context.ts'
import { type OperationRequest, orderOf } from './operation.ts'

/**
 * Lets a request pass whose OAuth token belongs to the company of its path.
 * @throws ApiRefusal 401 without a known token; 403 where it is another company's, or there is no such company.
 */
export function authorizeCompany({ access }: ServiceContext, { params, headers }: OperationRequest): void {
  const token = OAUTH.exec(headers.authorization ?? '')?.[1]
  if (token === undefined) throw new ApiRefusal(401, 'the header "Authorization: OAuth <token>" is needed')
  const companies = access.companiesOfToken(token)
  if (companies.size === 0) throw new ApiRefusal(401, 'the OAuth token is not known')
  const companyId = parseId(params.company_id, 'company_id')
  if (!companies.has(companyId)) throw new ApiRefusal(403, `the OAuth token gives no access to company ${companyId}`)
}

/**
 * Lets such a request pass where the order of its path exists as well.
 * @throws ApiRefusal 422 where any id of the path is none; 404 for an order that never had an item.
 */
export function authorizeOrder(context: ServiceContext, request: OperationRequest): void {
  authorizeCompany(context, request)
  for (const [name, id] of Object.entries(request.params)) parseId(id, name)
  const order = orderOf(request)
  if (!context.items.hasOrder(order))
    throw new ApiRefusal(404, `company ${order.companyId} has no order ${order.orderId}`)
}

const OAUTH = /^OAuth +(\S+) *$/i
