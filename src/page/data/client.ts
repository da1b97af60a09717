import { language } from '../words/index.ts'
import { zone } from './clock.ts'
import { forgetToken, token } from './session.ts'

/** An answer that is not 2xx. `status` 0: there was no answer. `body`: its content. */
export class RequestError extends Error {
  readonly status: number
  readonly body: unknown

  constructor(status: number, message: string, body?: unknown) {
    super(message)
    this.status = status
    this.body = body
  }
}

/**
 * Calls `listener` whenever the admin port refuses the token, with its message; without a message if a sign-in has ended.
 * Returns a function that stops this.
 */
export function onRefusal(listener: (message?: string) => void): () => void {
  refusals.add(listener)
  return () => void refusals.delete(listener)
}

const refusals = new Set<(message?: string) => void>()

type QueryValues = Readonly<Record<string, string | number | boolean | undefined>>

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly query?: QueryValues
  /** An object is sent as JSON; text as `type`, by default CSV. */
  readonly body?: unknown
  readonly type?: string
  readonly signal?: AbortSignal
}

/** The JSON that the admin port answers. @throws RequestError */
export async function call<Answer>(path: string, options: Call = {}): Promise<Answer> {
  const own = token()
  const response = await send(path, options)
  const text = await response.text()
  const body = parsed(text)
  if (response.ok) return body as Answer
  const message = (body as { message?: string } | undefined)?.message ?? `${response.status} ${response.statusText}`
  if (response.status === 401) refuse(own, message)
  throw new RequestError(response.status, message, body)
}

/** Resolves to an answer whose body is a stream. @throws RequestError */
export async function stream(
  path: string,
  options: Call & { readonly headers?: Record<string, string> },
): Promise<Response> {
  const own = token()
  const response = await send(path, options, options.headers)
  if (response.status === 401) refuse(own, (parsed(await response.text()) as { message?: string })?.message ?? '')
  if (!response.ok || !response.body) throw new RequestError(response.status, response.statusText)
  return response
}

/** A path with its ids escaped: ``pathTo`/admin/devices/${id}` ``. */
export function pathTo(texts: TemplateStringsArray, ...ids: readonly string[]): string {
  return String.raw({ raw: texts }, ...ids.map((id) => encodeURIComponent(id)))
}

async function send(
  path: string,
  { method = 'GET', query = {}, body, type, signal }: Call,
  more: Record<string, string> = {},
): Promise<Response> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  const isText = typeof body === 'string' || body instanceof Blob
  const contentType: Record<string, string> =
    body === undefined ? {} : { 'content-type': isText ? (type ?? 'text/csv') : 'application/json' }
  try {
    return await fetch(search ? `${path}?${search}` : path, {
      method,
      headers: {
        ...credential(),
        'accept-language': language,
        'time-zone': zone(),
        ...contentType,
        ...more,
      },
      body: body === undefined ? undefined : isText ? body : JSON.stringify(body),
      signal,
      cache: 'no-store',
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new RequestError(0, '')
  }
}

/**
 * Returns the header with a token, or the one that makes the admin port accept a person's cookie: no page of another site can
 * send it.
 */
function credential(): Record<string, string> {
  const own = token()
  return own === undefined ? { 'x-waybridge-page': '1' } : { authorization: `Bearer ${own}` }
}

/** Forgets the token that is refused, unless another one has replaced it. */
function refuse(refused: string | undefined, message: string): void {
  if (token() !== refused) return
  forgetToken()
  for (const listener of refusals) listener(refused && message)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
