import { createHmac } from 'node:crypto'

/**
 * Returns the headers that sign a POST to a receiver: `waybridge-signature` is `v1=` and the HMAC-SHA256 of
 * `<timestamp>.<body>` in hexadecimal digits; `waybridge-timestamp` is unix seconds. Without a secret, only the timestamp.
 */
export function signature(body: string, secret: string | undefined): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  if (secret === undefined) return { 'waybridge-timestamp': timestamp }
  const hmac = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return { 'waybridge-timestamp': timestamp, 'waybridge-signature': `v1=${hmac}` }
}
