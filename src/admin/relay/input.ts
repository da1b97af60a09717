import type { FastifyRequest } from 'fastify'
import type { Company } from '../../config/schema.ts'
import { parseBody, readBody } from '../../tracking/body.ts'
import type { OperationRequest } from '../../tracking/client.ts'
import { type PositionInterval, parseInterval } from '../../tracking/interval.ts'
import { OPERATIONS, parametersOf, type TrackingOperation } from '../../tracking/operations.ts'
import { ApiRefusal, parse, parseId } from '../../tracking/refusal.ts'

/** What of a request is for the service; `interval`: of positions, which may be longer than the service takes. */
export interface Input extends Pick<OperationRequest, 'params' | 'query' | 'body'> {
  readonly interval?: PositionInterval
}

/** A company whose token is known. */
export type Authorized = Company & { readonly oauth_token: string }

/** @throws ApiRefusal 422 where the path's company is no id, 404 where it is not configured, 403 without a token. */
export function companyOf(companies: readonly Company[], { params }: FastifyRequest): Authorized {
  const id = parseId((params as Parameters).company_id, 'company_id')
  const company = companies.find(({ company_id }) => company_id === id)
  if (!company) throw new ApiRefusal(404, `there is no company ${id} in gateway.yaml`)
  const { oauth_token } = company
  if (oauth_token === undefined)
    throw new ApiRefusal(403, `company ${id} has no oauth_token in gateway.yaml: add it there, next to its apikey`)
  return { ...company, oauth_token }
}

/** The input of an operation, its body as it came. @throws ApiRefusal as the service would. */
export async function readInput(name: OperationRequest['operation'], request: FastifyRequest): Promise<Input> {
  const operation: TrackingOperation = OPERATIONS[name]
  const params = request.params as Parameters
  for (const parameter of parametersOf(operation.path)) parseId(params[parameter], parameter)
  const query = queryOf(name, request.query)
  if (!operation.body) return { params, ...query }
  const body = await readBody(request.raw)
  parse(operation.body, parseBody(body, request.headers['content-type']))
  return { params, ...query, body }
}

/** The parameters that the interface knows, as they came: nothing else of a caller's query leaves this port. */
function queryOf(name: OperationRequest['operation'], query: unknown): Pick<Input, 'query' | 'interval'> {
  const { query: schema }: TrackingOperation = OPERATIONS[name]
  if (!schema) return {}
  const known = Object.keys(schema.shape).map((key) => [key, (query as Record<string, string | undefined>)[key]])
  const checked = { query: Object.fromEntries(known) as Input['query'] }
  if (name === 'courierPositions')
    return { ...checked, interval: parseInterval(query, Math.floor(Date.now() / 1000), MAX_SPAN_S) }
  parse(schema, query)
  return checked
}

type Parameters = Readonly<Record<string, string>>

/** 31 days. */
const MAX_SPAN_S = 2_678_400n
