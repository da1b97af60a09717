import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Company } from '../config/schema.ts'
import type { OperationRequest, TrackingClient } from '../tracking/client.ts'
import { MAX_INTERVAL_S } from '../tracking/interval.ts'
import { OPERATIONS, routerPath } from '../tracking/operations.ts'
import { Id } from '../tracking/schemas.ts'
import type { Operation } from './operation.ts'
import { answerWith } from './relay/answer.ts'
import { attempt, type Outcome } from './relay/attempts.ts'
import { forwarded } from './relay/headers.ts'
import { companyOf, type Input, readInput } from './relay/input.ts'
import { createRoom, type Room } from './relay/room.ts'
import type { TokenWatch } from './relay/token.ts'
import { readWindows } from './relay/windows.ts'

export interface RelaySources {
  readonly tracking: TrackingClient
  readonly companies: () => readonly Company[]
  readonly tokens: TokenWatch
  /** Gives up what is under way: its callers get a 502 that says so. */
  readonly closing: AbortSignal
  /** Most bytes of all answers that are under way at once, until their readers have them; default: 256 MiB. */
  readonly heldBytes?: number
}

/**
 * Every operation of the tracking interface but the push, passed on to the service with the company's OAuth token. What the
 * interface refuses is refused here, without a call.
 */
export function relayOperations(sources: RelaySources): Operation[] {
  const room = createRoom(sources.heldBytes ?? HELD_BYTES)
  return RELAYED.map((name) => relayOperation(name, { ...sources, room }))
}

type RelayedName = OperationRequest['operation']

const RELAYED = Object.keys(OPERATIONS).filter((name): name is RelayedName => name !== 'pushPositions')

interface Relay extends RelaySources {
  readonly room: Room
}

function relayOperation(operation: RelayedName, relay: Relay): Operation {
  const { tracking, companies, tokens, closing, room } = relay
  const { method, path, refusals } = OPERATIONS[operation]

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const company = companyOf(companies(), request)
    const input = await readInput(operation, request)
    const token = company.oauth_token
    const headers = forwarded(request.headers, input.body !== undefined)
    const signal = method === 'GET' ? AbortSignal.any([whenGone(reply), closing]) : closing
    const outcome = await room.hold(reply, input.body?.length ?? 0, (take) =>
      ask(tracking, { operation, oauthToken: token, headers, take, signal }, input),
    )
    if (!('fault' in outcome)) tokens.answered(company, outcome.status)
    return answerWith(reply, outcome, { tracking, operation, token })
  }

  return {
    method,
    path: routerPath(path),
    rawBody: true,
    doc: { ...OPERATIONS[operation], id: operation, parameter: Id, refusals: [...refusals, 404, 502, 504] },
    admit: async (request) => void companyOf(companies(), request),
    answer,
  }
}

/** When the caller has the answer, does not wait for it any more, or is cut off. What changes something is brought to its end all the same. */
function whenGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}

type Asked = Pick<OperationRequest, 'operation' | 'oauthToken' | 'headers' | 'take'> & { readonly signal: AbortSignal }

function ask(tracking: TrackingClient, request: Asked, { interval, ...input }: Input): Promise<Outcome> {
  if (!interval || interval.to - interval.from <= MAX_INTERVAL_S) return attempt(tracking, { ...request, ...input })
  const headers = ofWindows(request.headers)
  return readWindows(interval, ({ from, to }, maxBytes) =>
    attempt(tracking, {
      ...request,
      ...input,
      query: { from: String(from), to: String(to) },
      headers,
      maxBytes,
    }),
  )
}

/** What is joined must come whole, and as it is. */
function ofWindows(headers: OperationRequest['headers'] = {}): OperationRequest['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(?:accept-encoding|range|if-.*)$/.test(name)))
}

const HELD_BYTES = 256 * 1024 * 1024
