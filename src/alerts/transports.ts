import { randomUUID } from 'node:crypto'
import { createTransport } from 'nodemailer'
import { request } from 'undici'
import type { Config } from '../config/schema.ts'
import { SEVERITY_ORDER } from '../diagnose/codes.ts'
import { plainly } from '../diagnose/plain.ts'
import { masked, withoutSecrets } from '../masking.ts'
import { signature } from '../signature.ts'
import { answerText, say, type Text } from '../texts/text.ts'
import { type AlertMessage, dayLink, FORMATS, forOperator, linksOf, plain } from './formats.ts'
import { type AlertTransport, NotDelivered } from './outbox.ts'

type Webhook = Pick<Config['alerts']['webhooks'][number], 'url' | 'secret' | 'format'>

/**
 * Posts messages to a URL as JSON. Redirects are not followed, so a receiver cannot lead us to an address that only this
 * machine can reach. `page`: the URL of the page.
 */
export function webhookTransport({ url, secret, format }: Webhook, page: string): AlertTransport {
  const ids = new WeakMap<AlertMessage, string>()
  const { mostAtOnce, repeatMs, body, report, test, headers } = FORMATS[format]
  const options = { page, secret }
  const post = async (content: string, id: string, signal: AbortSignal) => {
    const own =
      format === 'waybridge' ? { 'waybridge-delivery': id, ...signature(content, secret) } : headers?.(options)
    const sent = { ...HEADERS, ...own }
    const posted = request(url, { method: 'POST', headers: sent, body: content, signal, reset: true })
    const { statusCode, body: answer } = await posted.catch(explain)
    if (statusCode >= 200 && statusCode < 300) {
      // The body of the answer is read and dropped.
      await answer.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => {})
      return
    }
    const said = withoutSecrets(await beginningOf(answer), url, [secret ?? ''])
    throw new NotDelivered(refusalText(statusCode, said))
  }
  return {
    // The path and the query of a webhook's URL are often its secret.
    name: `webhook ${new URL(url).host}`,
    collectMs: 0,
    mostAtOnce,
    repeatMs,
    async send(messages, signal) {
      const id = ids.get(messages[0]) ?? randomUUID()
      ids.set(messages[0], id)
      await post(body(messages, options), id, signal)
    },
    async report(day, signal) {
      const id = randomUUID()
      for (const content of report(day, id, options)) await post(content, id, signal)
    },
    async test(signal) {
      const id = randomUUID()
      for (const content of test(id, options)) await post(content, id, signal)
    },
  }
}

function refusalText(status: number, said: string): Text {
  if (status >= 300 && status < 400) return say('it redirects ({}): redirects are not followed', status)
  return answerText(status, said)
}

/** The first characters of an answer, as text. */
async function beginningOf(answer: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of answer) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= SHOWN) break
    }
  } catch {
    // The result of a test is shown.
  }
  return plain(Buffer.concat(chunks).subarray(0, SHOWN).toString()).trim()
}

/** Throws a message of our own: that of a network error may contain the URL, which may hold a secret. */
function explain(error: NodeJS.ErrnoException): never {
  const isLate = error.name === 'TimeoutError' || error.name === 'AbortError'
  throw new NotDelivered(
    isLate ? say('it does not answer within 10 s') : say('the connection failed ({})', error.code ?? error.name),
  )
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
  const send = async (mail: { subject: string; text: string }) => {
    await mailer.sendMail({ from, to, ...mail }).catch((error: Error) => {
      throw new NotDelivered(masked(masked(error.message, decodeURIComponent(password)), password))
    })
  }
  return {
    name: `mail server ${host}`,
    collectMs: MINUTE_MS,
    mostAtOnce: Infinity,
    send: (messages) => send(alertMail(messages, page)),
    report: ({ title, lines, day }) =>
      send({
        subject: `waybridge: ${plain(title)}`,
        text: [title, '', ...lines, '', dayLink(day, page), ''].map(plain).join('\n'),
      }),
    test: () => send({ subject: 'waybridge: a test of alerts', text: `Nothing is wrong.\n${page}/\n` }),
    close: () => mailer.close(),
  }
}

/** An e-mail about several incidents; what begins first, errors before others. */
function alertMail(messages: readonly AlertMessage[], page: string): { subject: string; text: string } {
  const ordered = messages.toSorted((one, other) => rankOf(one) - rankOf(other))
  const [{ change, finding }] = ordered
  const more = messages.length > 1 ? ` (and ${messages.length - 1} more)` : ''
  const subject = `waybridge: ${finding.severity} ${change}: ${plain(plainly(finding.message))}`
  const left = ordered.length - LISTED
  const rest = left > 0 ? [`and ${left} more: ${page}/`] : []
  return {
    subject: subject.slice(0, MAX_SUBJECT) + more,
    text: `${[...ordered.slice(0, LISTED).map((message) => paragraphOf(message, page)), ...rest].join('\n\n')}\n`,
  }
}

function paragraphOf({ change, finding, endedAt }: AlertMessage, page: string): string {
  const { action, code, evidence, message, severity, sinceAt } = finding
  const since = `since ${new Date(sinceAt).toISOString()}`
  const until = endedAt === undefined ? '' : `, ended ${new Date(endedAt).toISOString()}`
  const lines = [
    `${change.toUpperCase()}  ${severity} ${code}: ${plain(plainly(message))}`,
    `  ${since}${until}`,
    ...(change === 'ends' ? [] : [`  To do: ${plain(plainly(action))}`]),
    ...forOperator({ change, finding }).map((line) => `  ${line}`),
    ...(change === 'ends' ? [] : evidence.map((each) => `  - ${plain(each)}`)),
    `  ${linksOf(finding, page).page}`,
  ]
  return lines.join('\n')
}

function rankOf({ change, finding }: AlertMessage): number {
  return (change === 'ends' ? 10 : 0) + SEVERITY_ORDER[finding.severity]
}

const HEADERS = { 'content-type': 'application/json', 'user-agent': 'waybridge' }
const MAX_ANSWER_BYTES = 65_536
const SHOWN = 100
const MINUTE_MS = 60_000
const LIMIT_MS = 10_000
const LISTED = 50
const MAX_SUBJECT = 150
