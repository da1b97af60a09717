import { masked, printableUrl } from '../masking.ts'
import { bodyOf, type Fault, isSuccess, type Reply, retryAfterMs } from './exchange.ts'

/**
 * The answer to a push, or why there is none. `text`: the `message` of the answer, else its body, without the secret; empty
 * for a 200; at most 512 bytes, because each refused position stores it. `date`: the header `date`, which shows the API's
 * clock.
 */
export type ApiAnswer =
  | { readonly status: number; readonly text: string; readonly retryAfterMs?: number; readonly date?: string }
  | { readonly notTheApi: NotTheApi }
  | { readonly fault: Fault }

/** The answer for callers: the server may quote the request, so the secret is masked. */
export function answerOf(reply: Reply, secret: string): ApiAnswer {
  if (isForeign(reply)) return { notTheApi: describe(reply, secret) }
  const { status, headers } = reply
  const date = headers.date?.toString()
  if (status === 200) return { status, text: '', date }
  const body = bodyOf(reply)
  const text = body.length === 0 ? '' : shortened(masked(messageOf(body.toString()), secret))
  const retryAfter = headers['retry-after']
  if (retryAfter === undefined) return { status, text, date }
  return { status, text, date, retryAfterMs: retryAfterMs(String(retryAfter), Date.now()) }
}

function messageOf(text: string): string {
  if (!text.startsWith('{')) return text
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    return typeof message === 'string' ? message : text
  } catch {
    return text
  }
}

/** Cuts at the limit, before a character that the limit would split. */
function shortened(text: string): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, MAX_TEXT_BYTES), { stream: true })
}

/**
 * What came in place of an answer of the tracking API: an HTML page, where the API would answer text, JSON or nothing; or a
 * redirect. It does not contain the secret of the request, which such a page may quote.
 */
export interface NotTheApi {
  readonly status: number
  readonly type?: string
  /** Where a redirect leads. */
  readonly location?: string
  /** The first characters of the body, in one line. */
  readonly begins?: string
}

function describe(reply: Reply, secret: string): NotTheApi {
  const { status, headers, cut } = reply
  const [type, location] = [headers['content-type'], headers.location].map((value) => {
    return value === undefined ? undefined : inOneLine(printableUrl(masked(String(value), secret)), MAX_HEADER)
  })
  const text = masked(bodyOf(reply).toString(), secret)
  // Where the body was cut, half of the secret may be at its end.
  const begins = inOneLine(cut ? text.slice(0, -secret.length || undefined) : text, MAX_BEGINNING)
  return { status, type, location, begins: begins || undefined }
}

/** Whether an answer is an HTML page in place of a success, or a redirect. A success without content is neither. */
export function isForeign({ status, headers, chunks }: Reply): boolean {
  if (status >= 300 && status < 400) return true
  if (!isSuccess(status) || chunks.every(({ length }) => length === 0)) return false
  if (HTML.test(String(headers['content-type']))) return true
  const first = chunks.find((chunk) => firstCharacter(chunk) !== undefined)
  return first !== undefined && firstCharacter(first) === '<'
}

/** The first byte that is neither white space nor part of a byte order mark. */
function firstCharacter(chunk: Buffer): string | undefined {
  return FIRST.exec(chunk.toString('latin1'))?.[0]
}

/** The first characters of a text of somebody else, in one line and printable. */
export function inOneLine(text: string, most: number): string {
  const line = text.replace(NOT_PRINTABLE, ' ').trim()
  const characters = Array.from(line)
  return characters.length > most ? `${characters.slice(0, most).join('')}…` : line
}

const HTML = /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i
// Also of UTF-16, in which each character of HTML has a byte 0.
const FIRST = /[^\s\0\xef\xbb\xbf\xfe\xff]/
const NOT_PRINTABLE = /[\p{C}\p{Z}\ufffd]+/gu
const MAX_TEXT_BYTES = 512
const MAX_HEADER = 300
const MAX_BEGINNING = 120
