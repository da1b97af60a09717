import { createHmac, randomUUID } from 'node:crypto'
import { createTransport } from 'nodemailer'
import { request } from 'undici'
import { findingJson } from '../admin/findings.ts'
import type { Config } from '../config/schema.ts'
import type { Finding } from '../diagnose/facts.ts'
import { masked } from '../masking.ts'
import { toJson } from '../texts/language.ts'
import { english, type Text } from '../texts/text.ts'
import type { AlertMessage, AlertTransport } from './outbox.ts'

type Webhook = Config['alerts']['webhooks'][number]

/**
 * Posts each message to a URL as JSON. Redirects are not followed, so a receiver cannot lead us to an address that only this
 * machine can reach. `page`: the URL of the page.
 */
export function webhookTransport({ url, secret }: Webhook, page: string): AlertTransport {
  const ids = new WeakMap<AlertMessage, string>()
  return {
    // The path and the query of a webhook's URL are often its secret.
    name: `webhook ${new URL(url).host}`,
    collectMs: 0,
    async send([message], signal) {
      const body = alertJson(message, page)
      const id = ids.get(message) ?? randomUUID()
      ids.set(message, id)
      const headers = { ...HEADERS, 'waybridge-delivery': id, ...signature(body, secret) }
      const posted = request(url, { method: 'POST', headers, body, signal, reset: true })
      const { statusCode, body: answer } = await posted.catch(explain)
      // The body of the answer is read and dropped.
      await answer.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => {})
      if (statusCode >= 300 && statusCode < 400)
        throw new Error(`it redirects (${statusCode}): redirects are not followed`)
      if (statusCode >= 400) throw new Error(`it answers ${statusCode}`)
    },
  }
}

/** `v1=` and the HMAC-SHA256 of `<timestamp>.<body>` in hexadecimal digits; the timestamp is unix seconds. */
function signature(body: string, secret: string | undefined): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  if (secret === undefined) return { 'waybridge-timestamp': timestamp }
  const hmac = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return { 'waybridge-timestamp': timestamp, 'waybridge-signature': `v1=${hmac}` }
}

/** Throws a message of our own: that of a network error may contain the URL, which may hold a secret. */
function explain(error: NodeJS.ErrnoException): never {
  const isLate = error.name === 'TimeoutError' || error.name === 'AbortError'
  throw new Error(isLate ? 'it does not answer within 10 s' : `the connection failed (${error.code ?? error.name})`)
}

/** Sends what begins and ends within a minute in one e-mail of plain text. `page`: the URL of the page. */
export function mailTransport({ smtp, from, to }: NonNullable<Config['alerts']['mail']>, page: string): AlertTransport {
  const { host, password } = new URL(smtp)
  const limits = {
    connectionTimeout: LIMIT_MS,
    greetingTimeout: LIMIT_MS,
    socketTimeout: LIMIT_MS,
    dnsTimeout: LIMIT_MS,
  }
  const mailer = createTransport({ url: smtp, ...limits, disableFileAccess: true, disableUrlAccess: true })
  return {
    name: `mail server ${host}`,
    collectMs: MINUTE_MS,
    async send(messages) {
      await mailer.sendMail({ from, to, ...alertMail(messages, page) }).catch((error: Error) => {
        throw new Error(masked(masked(error.message, decodeURIComponent(password)), password))
      })
    },
    close: () => mailer.close(),
  }
}

/** The body of a webhook: the finding as the admin port shows it, whether it begins or ends, and where to read more. */
function alertJson({ change, finding, endedAt }: AlertMessage, page: string): string {
  return toJson({ change, ...findingJson({ ...finding, endedAt }), links: linksOf(finding, page) }, 'en')
}

function linksOf({ code }: Finding, page: string) {
  return { page: `${page}/#/findings/${code}`, paragraph: `src/diagnose/README.md#${code}` }
}

/** An e-mail about several findings; what begins first, errors before others. */
function alertMail(messages: readonly AlertMessage[], page: string): { subject: string; text: string } {
  const ordered = messages.toSorted((one, other) => rankOf(one) - rankOf(other))
  const [{ change, finding }] = ordered
  const more = messages.length > 1 ? ` (and ${messages.length - 1} more)` : ''
  const subject = `waybridge: ${finding.severity} ${change}: ${plain(finding.message)}`
  const left = ordered.length - LISTED
  const rest = left > 0 ? [`and ${left} more: ${page}/`] : []
  return {
    subject: subject.slice(0, MAX_SUBJECT) + more,
    text: `${[...ordered.slice(0, LISTED).map((message) => paragraphOf(message, page)), ...rest].join('\n\n')}\n`,
  }
}

function paragraphOf({ change, finding, endedAt }: AlertMessage, page: string): string {
  const { action, code, count, evidence, message, severity, sinceAt } = finding
  const since = `since ${new Date(sinceAt).toISOString()}`
  const until = endedAt === undefined ? '' : `, ended ${new Date(endedAt).toISOString()}`
  const lines = [
    `${change.toUpperCase()}  ${severity} ${code}: ${plain(message)}`,
    `  ${since}${until}${count > 1 ? `, ${count} times` : ''}`,
    ...evidence.map((each) => `  - ${plain(each)}`),
    ...(change === 'begins' ? [`  To do: ${plain(action)}`] : []),
    `  ${linksOf(finding, page).page}`,
  ]
  return lines.join('\n')
}

function rankOf({ change, finding }: AlertMessage): number {
  return (change === 'begins' ? 0 : 10) + ['error', 'warning', 'info'].indexOf(finding.severity)
}

/** Evidence may quote what a stranger sent. */
function plain(text: Text): string {
  return english(text).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
}

const HEADERS = { 'content-type': 'application/json', 'user-agent': 'waybridge' }
const MAX_ANSWER_BYTES = 65_536
const MINUTE_MS = 60_000
const LIMIT_MS = 10_000
const LISTED = 50
const MAX_SUBJECT = 150
