import { type Dispatcher, getGlobalDispatcher } from 'undici'
import type * as z from 'zod'
import { UserError } from '../errors.ts'
import { printableUrl } from '../tracking/printable-url.ts'
import type { ErrorBody } from '../tracking/schemas.ts'
import type { AdminPort } from './admin-port.ts'
import { printable } from './output.ts'

/** What is asked of the admin port. */
export interface Question {
  readonly method?: 'GET' | 'PUT'
  /** From its root; it goes out as it is, where a URL would fold its `..`. */
  readonly path: string
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | undefined>>
  /** CSV. */
  readonly body?: Buffer
  /** For the whole answer. */
  readonly timeoutMs?: number
}

/** An answer as it came. */
export interface Answer {
  readonly status: number
  readonly text: string
  /** A 401 of the admin port itself, not of the tracking service behind it. */
  readonly ofPort: boolean
}

/** What the admin port says where something is wrong. */
type Refusal = Partial<z.infer<typeof ErrorBody>>

/** Asks the admin port. @throws UserError where nothing answers, and where it takes the token for none (401) or too weak (403) */
export async function ask(admin: AdminPort, question: Question): Promise<Answer> {
  const { method = 'GET', path, query = {}, body, timeoutMs = TIMEOUT_MS } = question
  const { origin, pathname } = new URL(admin.url)
  const parameters = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const search = parameters.length > 0 ? `?${new URLSearchParams(parameters).toString()}` : ''
  const target = pathname.replace(/\/$/, '') + path + search
  const headers = { authorization: `Bearer ${admin.token}`, ...(body && { 'content-type': 'text/csv' }) }
  const signal = AbortSignal.timeout(timeoutMs)
  const answer = await getGlobalDispatcher()
    .request({ origin, path: target, method, headers, body, signal, headersTimeout: 0, bodyTimeout: 0 })
    .then(read)
    .catch((error: Error) => noAnswer(admin, error, timeoutMs))
  if (answer.status === 401 ? answer.ofPort : answer.status === 403 && path.startsWith('/admin/'))
    throw new UserError(`${refusalText(answer)} (the token was that of ${admin.tokenPlace})`)
  return answer
}

async function read({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Answer> {
  return { status: statusCode, text: await body.text(), ofPort: headers['www-authenticate'] === 'Bearer' }
}

/** What the JSON of an answer of 200 says. @throws UserError for any other, with what the admin port says */
export function jsonOf<Shape>(admin: AdminPort, answer: Answer, shape: z.ZodType<Shape>): Shape {
  if (answer.status !== 200) throw new UserError(refusalText(answer))
  return bodyOf(admin, answer, shape)
}

/** What the JSON of an answer says. @throws UserError where it is not of this shape */
export function bodyOf<Shape>({ url }: AdminPort, { text }: Answer, shape: z.ZodType<Shape>): Shape {
  const body = shape.safeParse(parsed(text))
  if (body.success) return body.data
  throw new UserError(`${printableUrl(url)} does not answer as an admin port of waybridge does.`)
}

/** What is wrong with each part of a question that was refused. */
export function errorsOf({ text }: Answer): NonNullable<Refusal['errors']> {
  return (parsed(text) as Refusal | undefined)?.errors ?? []
}

/** What the admin port says of a question that it refuses, in one line. */
export function refusalText({ status, text }: Answer): string {
  const message = (parsed(text) as Refusal | undefined)?.message ?? (text.trim() || 'no reason')
  return printable(`The admin port answers ${status}: ${message}`).replace(/\s+/g, ' ').slice(0, MAX_TEXT)
}

function noAnswer({ url }: AdminPort, error: Error & { code?: string }, timeoutMs: number): never {
  const place = printableUrl(url).replace(/\/$/, '')
  if (error.name === 'TimeoutError') throw new UserError(`No answer at ${place} within ${timeoutMs / 1000} s.`)
  const why = error.code === 'ECONNREFUSED' ? '' : ` (${error.code ?? error.name})`
  throw new UserError(`Nothing answers at ${place}${why}: is waybridge started? Else say with --url where it is.`)
}

/** What JSON says; undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const TIMEOUT_MS = 30_000
const MAX_TEXT = 500
