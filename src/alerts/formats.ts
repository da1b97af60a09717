import { findingJson } from '../admin/findings.ts'
import type { IncidentNews } from '../admin/incident-book.ts'
import type { Config } from '../config/schema.ts'
import type { Severity } from '../diagnose/codes.ts'
import type { Finding } from '../diagnose/facts.ts'
import { plainly } from '../diagnose/plain.ts'
import { toJson } from '../texts/language.ts'
import { english, type Text } from '../texts/text.ts'
import { VERSION } from '../version.ts'
import type { DayReport } from './day-report.ts'

/** A message to a receiver: news of an incident. */
export type AlertMessage = IncidentNews

/** Settings of a webhook's body. */
interface FormatOptions {
  /** The URL of the page. */
  readonly page: string
  /** The key of PagerDuty, or the token of Alertmanager. */
  readonly secret?: string
}

/** How news are written for a kind of receiver. */
export interface WebhookFormat {
  /** The most messages in one request. */
  readonly mostAtOnce: number
  /** A holding incident is sent again after this time, ms; undefined: never. */
  readonly repeatMs?: number
  /** The body of a request, as JSON. */
  readonly body: (messages: readonly AlertMessage[], options: FormatOptions) => string
  /** The bodies of the report of a day, one after the other. `id`: of this message. */
  readonly report: (report: DayReport, id: string, options: FormatOptions) => readonly string[]
  /** Returns the bodies of a test, in order, which say that nothing is wrong. `id`: of this test. */
  readonly test: (id: string, options: FormatOptions) => readonly string[]
  readonly headers?: (options: FormatOptions) => Readonly<Record<string, string>>
}

/** The formats of webhooks. */
export const FORMATS: Readonly<Record<Config['alerts']['webhooks'][number]['format'], WebhookFormat>> = {
  /** The finding as the admin port shows it. */
  waybridge: {
    mostAtOnce: 1,
    body([{ change, endedAt, finding, id }], { page }) {
      return toJson({ change, id, ...findingJson({ ...finding, endedAt }), links: linksOf(finding, page) }, 'en')
    },
    report({ title, lines, ...report }, id, { page }) {
      return [
        JSON.stringify({
          change: 'day',
          id,
          ...report,
          message: title,
          lines,
          links: { page: dayLink(report.day, page) },
        }),
      ]
    },
    test: (id, { page }) => [JSON.stringify({ change: 'test', id, message: TEST, links: { page: `${page}/` } })],
  },

  /** An incoming webhook of Slack. Blocks of plain text, so that bytes of a device can form no link and no mention. */
  slack: {
    mostAtOnce: 1,
    body: ([message], { page }) => slackBody(titleOf(message), detailsOf(message), linksOf(message.finding, page).page),
    report: ({ title, lines, day }, _id, { page }) => [slackBody(plain(title), lines.map(plain), dayLink(day, page))],
    test: (_id, { page }) => [slackBody(TEST, [], `${page}/`)],
  },

  /** A workflow of Teams that posts an Adaptive Card. Text runs: what a device sends is not read as Markdown. */
  teams: {
    mostAtOnce: 1,
    body: ([message], { page }) => teamsBody(titleOf(message), detailsOf(message), linksOf(message.finding, page).page),
    report: ({ title, lines, day }, _id, { page }) => [teamsBody(plain(title), lines.map(plain), dayLink(day, page))],
    test: (_id, { page }) => [teamsBody(TEST, [], `${page}/`)],
  },

  /** Events API v2 of PagerDuty. */
  pagerduty: {
    mostAtOnce: 1,
    body([message], { page, secret }) {
      const { change, finding, id } = message
      const own = { routing_key: secret, dedup_key: id }
      if (change === 'ends') return JSON.stringify({ ...own, event_action: 'resolve' })
      const { code, count, evidence, link, severity, sinceAt, subject } = finding
      const { page: href } = linksOf(finding, page)
      return JSON.stringify({
        ...own,
        event_action: 'trigger',
        client: 'waybridge',
        client_url: href,
        payload: {
          summary: cut(plain(finding.message), 1024),
          source: new URL(page).host,
          severity,
          timestamp: new Date(sinceAt).toISOString(),
          component: link,
          class: code,
          custom_details: { count, subject, evidence: evidence.map(plain), action: plain(finding.action) },
        },
        links: [{ href, text: 'waybridge' }],
      })
    },
    report: ({ title, lines, day }, id, { page, secret }) =>
      pagerDutyInfo({
        id,
        secret,
        page,
        href: dayLink(day, page),
        summary: plain(title),
        custom_details: { routes: lines.map(plain) },
      }),
    test: (id, { page, secret }) => pagerDutyInfo({ id, secret, page, href: `${page}/`, summary: TEST }),
  },

  /** API v2 of Alertmanager: an alert ends by itself unless it is sent again. */
  alertmanager: {
    mostAtOnce: Infinity,
    repeatMs: 60_000,
    body: (messages, { page }) => JSON.stringify(messages.flatMap((message) => alertsOf(message, page))),
    report({ title, lines, company_id, day }, id, { page }) {
      const annotations = { summary: plain(title), description: lines.map(plain).join('\n') }
      const labels = { alertname: 'waybridge_day', company_id, incident: id }
      return [alertmanagerInfo(labels, annotations, dayLink(day, page))]
    },
    test: (id, { page }) => [
      alertmanagerInfo({ alertname: 'waybridge_test', incident: id }, { summary: TEST }, `${page}/`),
    ],
    headers: ({ secret }): Record<string, string> =>
      secret === undefined ? {} : { authorization: `Bearer ${secret}` },
  },
}

/** Returns the URL at which the page shows a day. */
export function dayLink(day: string, page: string): string {
  return `${page}/#/day?day=${day}`
}

interface PagerDutyInfo {
  readonly id: string
  readonly secret?: string
  readonly page: string
  readonly href: string
  readonly summary: string
  readonly custom_details?: object
}

/** An event that needs no resolution. */
function pagerDutyInfo({ id, secret, page, href, summary, custom_details }: PagerDutyInfo): string[] {
  const own = { routing_key: secret, dedup_key: id }
  const payload = { summary: cut(summary, 1024), source: new URL(page).host, severity: 'info', custom_details }
  return [
    JSON.stringify({ ...own, event_action: 'trigger', client: 'waybridge', client_url: href, payload }),
    JSON.stringify({ ...own, event_action: 'resolve' }),
  ]
}

/** An alert that ends after a minute. */
function alertmanagerInfo(labels: object, annotations: object, generatorURL: string): string {
  const startsAt = new Date().toISOString()
  const endsAt = new Date(Date.now() + 60_000).toISOString()
  return JSON.stringify([{ labels: { ...labels, severity: 'info' }, annotations, startsAt, endsAt, generatorURL }])
}

/** Returns the URL and the paragraph that explain a finding. */
export function linksOf({ code }: Finding, page: string): { page: string; paragraph: string } {
  return { page: `${page}/#/findings/${code}`, paragraph: `src/diagnose/README.md#${code}` }
}

/** `Begins, error: the tracking API is down` */
function titleOf({ change, finding: { message, severity } }: AlertMessage): string {
  return `${HEADS[change]}, ${severity}: ${plain(plainly(message))}`
}

/** The action, the evidence, and since when; of what has ended only the latter: its evidence is not true any more. */
function detailsOf({ change, endedAt, finding }: AlertMessage): string[] {
  const { action, evidence, sinceAt } = finding
  const until = endedAt === undefined ? '' : `, ended ${new Date(endedAt).toISOString()}`
  return [
    ...(change === 'ends' ? [] : [`To do: ${plain(plainly(action))}`]),
    ...forOperator({ change, finding }),
    ...(change === 'ends' ? [] : evidence.map((each) => `• ${plain(each)}`)),
    `Since ${new Date(sinceAt).toISOString()}${until}`,
  ]
}

/** The exact text for operators, if dispatchers get a simpler one. */
export function forOperator({ change, finding }: Pick<AlertMessage, 'change' | 'finding'>): string[] {
  const exact = change === 'ends' ? [finding.message] : [finding.message, finding.action]
  return exact.every((text) => plain(text) === plain(plainly(text))) ? [] : [`For IT: ${exact.map(plain).join('; ')}`]
}

function slackBody(title: string, details: readonly string[], link: string): string {
  const section = (text: string) => ({
    type: 'section',
    text: { type: 'plain_text', text: cut(text, 3000), emoji: false },
  })
  return JSON.stringify({
    text: escaped(cut(title, 3000)),
    blocks: [
      section(title),
      ...(details.length > 0 ? [section(details.join('\n'))] : []),
      { type: 'context', elements: [{ type: 'mrkdwn', text: `<${escaped(link.replaceAll('|', '%7C'))}|waybridge>` }] },
    ],
  })
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>]/g, (sign) => ESCAPED[sign])
}

/** Teams takes 28 KB: at most eight lines, each of at most 3 KB. */
function teamsBody(title: string, details: readonly string[], url: string): string {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [teamsLine(title, { weight: 'Bolder' }), ...details.map((each) => teamsLine(each))],
    actions: [{ type: 'Action.OpenUrl', title: 'waybridge', url }],
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  return JSON.stringify({ type: 'message', attachments: [{ contentType, contentUrl: null, content }] })
}

function teamsLine(text: string, style = {}): object {
  return { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: cut(text, 1000), ...style }] }
}

/** Labels identify an alert. If its severity has changed, the alert with the previous severity ends. */
function alertsOf({ change, endedAt, finding, id, toldSeverity }: AlertMessage, page: string): object[] {
  const { action, code, count, evidence, link, message, severity, sinceAt, subject } = finding
  // A device is no label: the incident may become one of several.
  const { api, company_id, listener, process, receiver } = subject
  const device = code === 'sos' ? subject.device : undefined
  const labels = (shown: Severity) => ({
    alertname: `waybridge_${code}`,
    severity: shown,
    link,
    ...defined({ api, company_id, listener, process, receiver, device }),
    incident: id,
  })
  const alert = (shown: Severity, endsAt: number) => ({
    labels: labels(shown),
    annotations: {
      summary: plain(message),
      description: evidence.map(plain).join('\n'),
      action: plain(action),
      count: String(count),
    },
    // Alertmanager refuses an alert that ends before it starts; the clocks of gateways may differ.
    startsAt: new Date(Math.min(sinceAt, endsAt)).toISOString(),
    endsAt: new Date(endsAt).toISOString(),
    generatorURL: linksOf(finding, page).page,
  })
  const now = Date.now()
  if (change === 'ends') return [alert(toldSeverity, endedAt ?? now)]
  const holding = alert(severity, now + HOLDS_MS)
  return severity === toldSeverity ? [holding] : [alert(toldSeverity, now), holding]
}

function defined(labels: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** Evidence may quote bytes of an unknown sender. */
export function plain(text: Text): string {
  return english(text).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

const HEADS = { begins: 'Begins', updates: 'Goes on', ends: 'Ended' } satisfies Record<AlertMessage['change'], string>
const ESCAPED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const TEST = `This is a test of alerts, by waybridge ${VERSION}: nothing is wrong.`
/** Like Prometheus: four times the time after which an alert is sent again. */
const HOLDS_MS = 240_000
