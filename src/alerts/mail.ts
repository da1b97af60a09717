import { createTransport } from 'nodemailer'
import type { Config } from '../config/schema.ts'
import { masked } from '../masking.ts'
import { alertMail } from './message.ts'
import type { AlertTransport } from './outbox.ts'

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

const MINUTE_MS = 60_000
const LIMIT_MS = 10_000
