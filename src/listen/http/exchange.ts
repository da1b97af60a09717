import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpRequest, Protocol } from '../../../protocols/kit/index.ts'
import { createSession } from '../../ingest/device.ts'
import type { Outcome } from '../../ingest/ingest.ts'
import { metrics } from '../../observe/metrics.ts'
import type { Shared } from '../listener.ts'
import { answerTo, type HttpAnswer, type Refusal, refusals } from './answer.ts'
import { readBody } from './body.ts'

/** What the requests of one listener have in common. */
export interface Line extends Shared {
  readonly protocol: Protocol
  /** What is being stored and answered. */
  readonly answering: Set<Promise<unknown>>
  closing: boolean
}

/** What a request weighs, in frames. */
export const FRAMES_A_REQUEST = 2

/** Reads a request and answers it; resolves once the answer is written, or the client is gone. */
export async function serve(line: Line, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request, line)
  if (body === undefined) return
  // Storing may take long. It knows nothing of request and response, so that these are forgotten when the client goes.
  const { method = '', url: uri = '', headers, socket } = request
  const content = { method, uri, headers: headers as HttpRequest['headers'], body: body as Buffer }
  const remote = `${socket.remoteAddress}:${socket.remotePort}`
  const answer = keepIn(line.answering, typeof body === 'string' ? refuse(body) : answerOf(line, content, remote))
  const work = Promise.race([answer, over(response)]).then((answered) => answered && send(line, answered, response))
  await keepIn(line.answering, work)
  // What is far too long is not read to its end.
  if (!request.complete) request.destroy()
}

function keepIn<T>(all: Set<Promise<unknown>>, work: Promise<T>): Promise<T> {
  const kept = work.finally(() => all.delete(kept))
  all.add(kept)
  return kept
}

async function refuse(reason: Refusal): Promise<HttpAnswer> {
  metrics.refused.inc({ reason })
  return refusals[reason]
}

async function answerOf(line: Line, request: HttpRequest, remote: string): Promise<HttpAnswer> {
  const outcome = await take(line, request, remote).catch((error: unknown): Outcome => {
    line.logger.error({ err: error, protocol: line.protocol.name }, 'fault in handling a request')
    return { status: 'not_stored', reason: 'fault' }
  })
  return answerTo(outcome)
}

async function take({ ingest, pressure, protocol }: Line, request: HttpRequest, remote: string): Promise<Outcome> {
  const { frame: frameOf } = protocol.http as { frame: (request: HttpRequest) => Buffer }
  const session = createSession('http', remote)
  const frame = frameOf(request)
  pressure.add(frame.length, FRAMES_A_REQUEST)
  try {
    return await ingest.take(frame, session, protocol)
  } finally {
    pressure.remove(frame.length, FRAMES_A_REQUEST)
  }
}

/** Resolves when nothing can be answered any more. */
function over(response: ServerResponse): Promise<undefined> {
  return new Promise((resolve) => {
    if (response.destroyed) resolve(undefined)
    response.once('close', () => resolve(undefined)).once('error', () => resolve(undefined))
  })
}

async function send(line: Line, { status, headers, body }: HttpAnswer, response: ServerResponse): Promise<void> {
  if (response.destroyed) return
  if (line.closing) response.shouldKeepAlive = false
  response.writeHead(status, { ...headers, 'content-length': body.length })
  response.end(body)
  await over(response)
}
