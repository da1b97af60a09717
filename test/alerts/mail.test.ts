import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import type { AlertMessage } from '../../src/alerts/formats.ts'
import { Outbox } from '../../src/alerts/outbox.ts'
import { mailTransport } from '../../src/alerts/transports.ts'
import { diagnose } from '../../src/diagnose/diagnose.ts'
import { fakeClock, finding, mailReceiver, news } from '../support/alerts.ts'

const PAGE = 'https://gps.example'
const ADDRESSES = { from: 'waybridge <gps@example.com>', to: ['ops@example.com'], min_severity: 'warning' as const }
const ENDS = news({
  change: 'ends',
  finding: finding({
    code: 'silent',
    severity: 'warning',
    message: 'a silent van',
    evidence: ['last heard 6 min ago'],
  }),
  endedAt: 0,
})
const BEGINS = news({ finding: finding({ evidence: ['a device \u001b[31mnamed\r\nBcc: x@example.com'] }) })

/** Returns an outbox to a mail server: its log and a function that sends. */
function outboxTo(smtp: string) {
  const log: string[] = []
  const clock = fakeClock()
  const logger = pino({}, { write: (line) => void log.push(line) })
  const outbox = new Outbox(mailTransport({ smtp, ...ADDRESSES }, PAGE), logger, clock)
  onTestFinished(() => outbox.close())
  return { log, clock, send: (message: AlertMessage) => new Promise<boolean>((done) => void outbox.add(message, done)) }
}

it('incidents that begin and end within a minute are one mail of plain text, begins first', async () => {
  const { url, mails } = await mailReceiver('canary-password')
  const { clock, log, send } = outboxTo(url('canary-password'))
  await Promise.all([send(ENDS), send(BEGINS)])
  expect(clock.waits).toEqual([60_000])
  expect(mails).toHaveLength(1)
  const [mail] = mails
  expect(mail).toMatch(/^Subject: waybridge: error begins: the tracking API refuses connections/m)
  expect(mail).toMatch(/^Content-Type: text\/plain/m)
  expect(mail).toMatch(/^To: ops@example\.com$/m)
  const text = mail.replaceAll('=\n', '').replaceAll('=20', ' ')
  expect(text).toContain('BEGINS  error upstream_down: the tracking API refuses connections: 3 positions wait')
  expect(text).toContain('  since 2026-11-22T07:41:00.000Z')
  expect(text).toContain(`${PAGE}/#/findings/upstream_down`)
  expect(text.indexOf('ENDS  warning silent')).toBeGreaterThan(text.indexOf('BEGINS'))
  expect(text).not.toContain('last heard')
  expect(text).not.toMatch(/^Bcc/m)
  expect(text).not.toContain('\u001b')
  expect(log).toEqual([])
})

it('a wrong mail password is one log line without the password, and the mail arrives when it is corrected', async () => {
  const { url, mails } = await mailReceiver('another')
  const { log, clock, send } = outboxTo(url('canary%2Fpassword'))
  await send(BEGINS)
  expect(mails).toEqual([])
  expect(clock.waits.length).toBeGreaterThan(10)
  expect(log).toHaveLength(1)
  expect(log[0]).toMatch(/mail server 127\.0\.0\.1:\d+ is not told/)
  expect(log[0]).toContain('535 wrong password')
  expect(log.join('')).not.toMatch(/canary/)
})

it('a mail says what is wrong in plain words, and below in the words of an operator', async () => {
  const { url, mails } = await mailReceiver('canary-password')
  const { send } = outboxTo(url('canary-password'))
  const refused = diagnose({
    now: Date.UTC(2026, 10, 22),
    observations: [],
    lanes: [{ company: '8', status: 403, message: 'bad key', since: Date.UTC(2026, 10, 22), lanes: ['8/1/2'] }],
  })
  await send(news({ finding: refused[0] }))
  const text = mails[0].replaceAll('=\n', '').replaceAll('=20', ' ')
  expect(text).toContain('BEGINS  error apikey_refused: the tracking service refuses the password of company 8')
  expect(text).toContain('  To do: tell who runs this server to set the right password')
  expect(text).toContain(
    '  For IT: the tracking API refuses the apikey of company 8 (403): 1 lane parked; set the apikey',
  )
})
