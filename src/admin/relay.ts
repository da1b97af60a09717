import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Company } from '../config/schema.ts'
import type { OperationRequest, TrackingClient } from '../tracking/client.ts'
import { MAX_INTERVAL_S } from '../tracking/interval.ts'
import { OPERATIONS, routerPath } from '../tracking/operations.ts'
import type { Operation } from './operation.ts'
import { answerWith } from './relay/answer.ts'
import { attempt, type Outcome } from './relay/attempts.ts'
import { forwarded } from './relay/headers.ts'
import { companyOf, type Input, readInput } from './relay/input.ts'
import type { TokenWatch } from './relay/token.ts'
import { readWindows } from './relay/windows.ts'

export interface RelaySources {
  readonly tracking: TrackingClient
  readonly companies: () => readonly Company[]
  readonly tokens: TokenWatch
  /** Gives up what is brought to its end though nobody waits for it. */
  readonly closing: AbortSignal
}

/**
 * Every operation of the tracking interface but the push, passed on to the service with the company's OAuth token. What the
 * interface refuses is refused here, without a call.
 */
export function relayOperations(sources: RelaySources): Operation[] {
  return RELAYED.map((name) => relayOperation(name, sources))
}

type RelayedName = OperationRequest['operation']

const RELAYED = Object.keys(OPERATIONS).filter((name): name is RelayedName => name !== 'pushPositions')

function relayOperation(operation: RelayedName, { tracking, companies, tokens, closing }: RelaySources): Operation {
  const { method, path } = OPERATIONS[operation]

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const company = companyOf(companies(), request)
    const input = await readInput(operation, request)
    const signal = method === 'GET' ? whenGone(reply) : closing
    const oauthToken = company.oauth_token
    const outcome = await ask(tracking, { operation, oauthToken, headers: forwarded(request.headers), signal }, input)
    if (!('fault' in outcome)) tokens.answered(company, outcome.status)
    return answerWith(reply, outcome, { tracking, operation, token: oauthToken })
  }

  return {
    method,
    path: routerPath(path),
    rawBody: true,
    admit: async (request) => void companyOf(companies(), request),
    answer,
  }
}

/** When the caller does not wait any more, or is cut off. What changes something is brought to its end all the same. */
function whenGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}

type Credentials = Pick<OperationRequest, 'operation' | 'oauthToken' | 'headers'> & { readonly signal: AbortSignal }

function ask(tracking: TrackingClient, request: Credentials, { interval, ...input }: Input): Promise<Outcome> {
  if (!interval || interval.to - interval.from <= MAX_INTERVAL_S) return attempt(tracking, { ...request, ...input })
  const headers = ofWindows(request.headers)
  return readWindows(interval, ({ from, to }, { maxBytes, signal }) =>
    attempt(tracking, {
      ...request,
      ...input,
      query: { from: String(from), to: String(to) },
      headers,
      maxBytes,
      signal: AbortSignal.any([request.signal, signal]),
    }),
  )
}

/** What is joined must come whole, and as it is. */
function ofWindows(headers: OperationRequest['headers'] = {}): OperationRequest['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(?:accept-encoding|range|if-.*)$/.test(name)))
}
