import { STATUS_CODES } from 'node:http'
import type { Outcome } from '../../ingest/ingest.ts'

/** A response: what failed is said in one sentence, for the person who connects the device. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** What a device is answered about its frame. */
export function answerTo(outcome: Outcome): HttpAnswer {
  if (outcome.status === 'stored') return reply(200, outcome.reply)
  if (outcome.status === 'misunderstood') return sentence(400, MISUNDERSTOOD[outcome.reason])
  if (outcome.status === 'not_stored') return sentence(503, 'The position could not be stored.', AGAIN)
  return outcome.refusal ? reply(403, outcome.refusal) : sentence(403, REFUSED[outcome.reason])
}

const AGAIN = { 'retry-after': '10' }

/** What is answered to a request that is not even read, by the reason that is counted. */
export const refusals = {
  frame_too_long: sentence(413, 'The request is longer than this server takes (limits.max_frame_bytes).'),
  memory: sentence(503, 'Too many requests are under way.', AGAIN),
  overload: sentence(503, 'Too many requests are under way.', AGAIN),
  not_identified: sentence(408, 'The request did not arrive in time (limits.identify_timeout).'),
  headers_too_long: sentence(431, 'The headers of the request are too long.'),
  malformed_request: sentence(400, 'This is not an HTTP request.'),
} as const

/** Why a request is not even read. */
export type Refusal = keyof typeof refusals

/** An answer as it stands on the wire, where there is no request to answer to; the connection ends with it. */
export function rawAnswer({ status, headers, body }: HttpAnswer): Buffer {
  const all = { ...headers, 'content-length': body.length, connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`), body])
}

const MISUNDERSTOOD = {
  checksum: 'The checksum of the request does not match.',
  truncated: 'The request ends too early.',
  malformed: 'The request has no position that can be understood: see the parameters of this protocol.',
  unsupported: 'This kind of request is not understood.',
}
const REFUSED = {
  unknown_device: 'This device is not configured here: check its id, or have it configured.',
  wrong_secret: 'The secret of this device is missing or wrong.',
  other_device: 'This request is for another device.',
}

function reply(status: number, body: Buffer = Buffer.alloc(0)): HttpAnswer {
  const isJson = body[0] === 0x5b || body[0] === 0x7b
  return { status, headers: isJson ? { 'content-type': 'application/json' } : {}, body }
}

function sentence(status: number, text: string, headers: Record<string, string> = {}): HttpAnswer {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
    body: Buffer.from(`${text}\n`),
  }
}
