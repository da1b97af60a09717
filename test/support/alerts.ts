import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { type AlertOptions, Alerts } from '../../src/alerts/index.ts'
import type { AlertMessage } from '../../src/alerts/formats.ts'
import type { AlertClock } from '../../src/alerts/outbox.ts'
import { everySecond } from '../../src/async.ts'
import type { Scope } from '../../src/admin/scope.ts'
import type { Finding } from '../../src/diagnose/facts.ts'
import { listening } from './listening.ts'

/** A finding with these parts; the others are those of an API that is down. */
export function finding(parts: Partial<Finding> = {}): Finding {
  return {
    code: 'upstream_down',
    severity: 'error',
    link: 'accepted',
    subject: {},
    sinceAt: Date.UTC(2026, 10, 22, 7, 41),
    count: 3,
    evidence: ['pushPositions: refuses connections'],
    message: 'the tracking API refuses connections: 3 positions wait',
    action: 'see the evidence',
    ...parts,
  }
}

/** News of an incident that begins, unless `parts` say otherwise. */
export function news(parts: Partial<AlertMessage> = {}): AlertMessage {
  const { finding: own = finding() } = parts
  return { change: 'begins', id: 'incident-1', finding: own, size: own.count, toldSeverity: own.severity, ...parts }
}

/** For alerts that tell nothing of days. */
export const NO_DAYS = { sheets: { read: async () => [] }, nameOf: () => undefined }

/** Tells receivers as the admin process does, until it is closed. */
export function startAlerts(options: AlertOptions) {
  const alerts = new Alerts(options)
  const jobs = everySecond(alerts.jobs)
  return {
    failing: () => alerts.failing(),
    test: (scope: Scope) => alerts.test(scope),
    async close() {
      await jobs.stop()
      await alerts.close()
    },
  }
}

/** A clock that passes only while somebody waits. `waits`: for how long, ms, in order. */
export function fakeClock(): AlertClock & { readonly waits: number[] } {
  let now = Date.UTC(2026, 10, 22, 8)
  const waits: number[] = []
  return {
    waits,
    now: () => now,
    async wait(ms) {
      waits.push(ms)
      now += ms
      await new Promise(setImmediate)
    },
  }
}

interface ReceivedPost {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A receiver of webhooks; it answers as `answer` says, by default 204. */
export async function webhookReceiver(answer = (response: ServerResponse): unknown => response.writeHead(204).end()) {
  const posts: ReceivedPost[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (bytes: Buffer) => chunks.push(bytes))
    request.on('end', () => {
      posts.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      answer(response)
    })
  })
  const url = `http://127.0.0.1:${await listening(server)}`
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url, posts, close }
}

/** A mail server that keeps the texts of mails, for whoever knows the password of `waybridge`. */
export async function mailReceiver(password: string) {
  const mails: string[] = []
  const server = createTcpServer((socket) => serveMail(socket, { password, mails }))
  const port = await listening(server)
  onTestFinished(() => void server.close())
  return { url: (secret: string) => `smtp://waybridge:${secret}@127.0.0.1:${port}`, mails }
}

function serveMail(socket: Socket, { password, mails }: { readonly password: string; readonly mails: string[] }): void {
  let [received, mail] = ['', undefined as string | undefined]
  const answer = (line: string) => void socket.write(`${line}\r\n`)
  const wanted = Buffer.from(`\0waybridge\0${password}`).toString('base64')
  const command = (line: string) => {
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'EHLO') answer('250-sink\r\n250 AUTH PLAIN')
    else if (verb === 'AUTH') answer(line.endsWith(wanted) ? '235 welcome' : `535 wrong password: ${line}`)
    else answer(verb === 'DATA' ? '354 go on' : verb === 'QUIT' ? '221 bye' : '250 well')
    if (verb === 'DATA') mail = ''
  }
  socket.on('error', () => socket.destroy())
  socket.on('data', (bytes) => {
    received += bytes.toString()
    const lines = received.split('\r\n')
    received = lines.pop() ?? ''
    for (const line of lines) {
      if (mail === undefined) command(line)
      else if (line === '.') {
        mails.push(mail)
        mail = undefined
        answer('250 taken')
      } else mail += `${line}\n`
    }
  })
  answer('220 sink')
}
