import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Company } from '../../config/schema.ts'
import { ApiRefusal, parse } from '../../http/refusal.ts'
import { isForeign } from '../../tracking/answer.ts'
import { attempt, readWindows } from '../../tracking/attempts.ts'
import { parseBody } from '../../tracking/body.ts'
import type { OperationRequest, TrackingClient } from '../../tracking/client.ts'
import { type Failure, isSuccess, type Reply } from '../../tracking/exchange.ts'
import { parametersOf } from '../../tracking/openapi.ts'
import { OPERATIONS, type TrackingOperation } from '../../tracking/operations.ts'
import { MAX_INTERVAL_S, type PositionInterval, parseId, parseInterval } from '../../tracking/parameters.ts'
import { Id } from '../../tracking/schemas.ts'
import type { Operation } from '../operation.ts'
import type { Scope } from '../scope.ts'
import { answerWith, forwardedHeaders } from './answer.ts'
import { readRequestBody } from '../access.ts'

export interface RelaySources {
  /** Returns the client for the tracking API of a company. */
  readonly tracking: (company_id: string) => TrackingClient
  readonly companies: () => readonly Company[]
  readonly tokens: TokenRefusals
  /** Aborts the requests in flight; their callers get a 502 with this reason. */
  readonly closing: AbortSignal
  /** Most bytes of all answers that are not sent yet; default: 256 MiB. */
  readonly heldBytes?: number
}

/**
 * Every operation of the tracking interface but the push, relayed to the tracking API with the company's OAuth token. What the
 * interface refuses is refused here, without a call.
 */
export function relayOperations(sources: RelaySources): Operation[] {
  const { tracking, companies, tokens, closing, heldBytes = HELD_BYTES } = sources
  const hold = limitMemory(heldBytes)
  const names = Object.keys(OPERATIONS).filter((name): name is RelayedName => name !== 'pushPositions')
  return names.map((operation) => ({
    ...OPERATIONS[operation],
    id: operation,
    parameter: Id,
    refusals: [...OPERATIONS[operation].refusals, 404, 502, 504],
    companies: 'filtered',
    ...(operation === 'courierPositions' && { reads: 'positions' }),
    async handle(request, reply, scope) {
      companyOf(companies(), request, scope)
      const input = await readInput(operation, request)
      // The API and the token of the company may have changed during the request.
      const company = companyOf(companies(), request, scope)
      const oauthToken = company.oauth_token
      const api = tracking(company.company_id)
      const headers = forwardedHeaders(request.headers, input.body !== undefined)
      // A change is completed even if its caller has left.
      const isGet = OPERATIONS[operation].method === 'GET'
      const signal = isGet ? AbortSignal.any([whenClosed(reply), closing]) : closing
      const outcome = await hold(reply, input.body?.length ?? 0, (take) =>
        ask(api, { operation, oauthToken, headers, take, signal, ...input }),
      )
      // An answer from another server than the tracking API says nothing about the token.
      if (!('fault' in outcome) && !isForeign(outcome)) tokens.answered(company, outcome.status)
      return answerWith(reply, outcome, { baseUrl: api.baseUrl, operation, token: oauthToken })
    },
  }))
}

type RelayedName = OperationRequest['operation']

/** Returns the company in the path. @throws ApiRefusal 422 if it is no id, 404 if it is not configured, 403 if it has no token */
function companyOf(
  companies: readonly Company[],
  { params }: FastifyRequest,
  scope: Scope,
): Company & { oauth_token: string } {
  const id = parseId((params as Parameters).company_id, 'company_id')
  const company = companies.find(({ company_id }) => company_id === id && scope.sees(id))
  if (!company) throw new ApiRefusal(404, `there is no company ${id} in gateway.yaml`)
  const { oauth_token } = company
  if (oauth_token === undefined)
    throw new ApiRefusal(403, `company ${id} has no oauth_token in gateway.yaml: add it there, next to its apikey`)
  return { ...company, oauth_token }
}

/**
 * Checks the input as the tracking API would; leaves the body unchanged. The interval of positions may be longer than that
 * API accepts. @throws ApiRefusal
 */
async function readInput(name: RelayedName, request: FastifyRequest) {
  const operation: TrackingOperation = OPERATIONS[name]
  const params = request.params as Parameters
  for (const parameter of parametersOf(operation.path)) parseId(params[parameter], parameter)
  // Parameters that the interface does not know are not relayed.
  const given = request.query as Parameters
  const query = Object.fromEntries(Object.keys(operation.query?.shape ?? {}).map((key) => [key, given[key]]))
  if (name === 'courierPositions')
    return { params, query, interval: parseInterval(query, Math.floor(Date.now() / 1000), MAX_SPAN_S) }
  if (operation.query) parse(operation.query, query)
  if (!operation.body) return { params, query }
  const body = await readRequestBody(request)
  parse(operation.body, parseBody(body, request.headers['content-type']))
  return { params, query, body }
}

type Parameters = Readonly<Record<string, string>>

/** Aborted when the answer is sent or its caller has gone. */
function whenClosed({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}

type Asked = Required<Pick<OperationRequest, 'headers'>> & OperationRequest & { readonly interval?: PositionInterval }

function ask(tracking: TrackingClient, { interval, ...request }: Asked): Promise<Reply | Failure> {
  if (!interval || interval.to - interval.from <= MAX_INTERVAL_S) return attempt(tracking, request)
  // Answers that will be joined must be complete.
  const asked = Object.entries(request.headers).filter(([name]) => !/^(?:range|if-.*)$/.test(name))
  const headers = Object.fromEntries(asked)
  return readWindows(interval, ({ from, to }, maxBytes) =>
    attempt(tracking, { ...request, query: { from: String(from), to: String(to) }, headers, maxBytes }),
  )
}

/**
 * Limits the memory of all unsent answers. The returned function runs `work`, which reserves the bytes of its answer until
 * the answer is sent or its reader is gone. The fault is `no_room` if there is no memory for the usual answer to a request
 * with a body of that length.
 */
function limitMemory(maxBytes: number) {
  let total = 0
  return async ({ raw }: FastifyReply, bodyBytes: number, work: Work): Promise<Reply | Failure> => {
    let held = 0
    let taken = 0
    const reserve = (bytes: number) => {
      const more = Math.max(0, bytes - held)
      if (total + more > maxBytes) return false
      total += more
      held += more
      return true
    }
    const release = () => void (total -= held)
    // The answer to added items is a little longer than the request, and the client must get it.
    if (!reserve(USUAL_BYTES + 2 * bodyBytes)) return { fault: 'no_room', unsent: true }
    const asked = work((bytes) => reserve((taken += bytes)))
    return asked.finally(() => void (raw.closed ? release() : raw.once('close', release)))
  }
}

type Work = (take: (bytes: number) => boolean) => Promise<Reply | Failure>

/** 31 days. */
const MAX_SPAN_S = 2_678_400n
const HELD_BYTES = 256 * 1024 * 1024
const USUAL_BYTES = 64 * 1024

type TokenRefusals = ReturnType<typeof tokenRefusals>

/** Keeps the companies whose OAuth tokens the tracking API refuses, as far as this process has used them. */
export function tokenRefusals(companies: () => readonly Company[]) {
  const refusedTokens = new Map<string, string>()
  return {
    /** Notes with which status a request with the OAuth token of a company was answered. */
    answered(asked: Company, status: number): void {
      const { company_id } = asked
      const token = tokenAtApi(asked)
      const isAccepted = isSuccess(status) || AFTER_TOKEN_CHECK.has(status)
      if (isAccepted && refusedTokens.get(company_id) === token) refusedTokens.delete(company_id)
      // A late refusal of an earlier token, or by an earlier API, says nothing about the present one.
      const isPresent = (each: Company) => each.company_id === company_id && tokenAtApi(each) === token
      if (status === 401 && companies().some(isPresent)) refusedTokens.set(company_id, token)
    },
    /** Returns the ids of companies whose present token was refused, and not accepted since. */
    refused(): string[] {
      return companies()
        .filter((company) => company.oauth_token && refusedTokens.get(company.company_id) === tokenAtApi(company))
        .map(({ company_id }) => company_id)
    },
  }
}

/** Names the token of a company and the API that it is shown to. */
function tokenAtApi({ oauth_token, tracking }: Company): string {
  return JSON.stringify([oauth_token, tracking?.base_url])
}

/** Refusals that come after the check of the token. */
const AFTER_TOKEN_CHECK: ReadonlySet<number> = new Set([400, 403, 404, 422])
