import { createHmac, randomUUID } from 'node:crypto'
import { request } from 'undici'
import type { Config } from '../config/schema.ts'
import { type AlertMessage, alertJson } from './message.ts'
import type { AlertTransport } from './outbox.ts'

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

const HEADERS = { 'content-type': 'application/json', 'user-agent': 'waybridge' }
const MAX_ANSWER_BYTES = 65_536
