import { findingJson } from '../admin/findings.ts'
import type { Finding } from '../diagnose/facts.ts'

/** What a receiver is told: a finding begins or ends. */
export interface AlertMessage {
  readonly change: 'begins' | 'ends'
  readonly finding: Finding
  /** When it ended, ms UTC. */
  readonly endedAt?: number
}

/** The body of a webhook: the finding as the admin port shows it, whether it begins or ends, and where to read more. */
export function alertJson({ change, finding, endedAt }: AlertMessage, page: string): string {
  return JSON.stringify({ change, ...findingJson({ ...finding, endedAt }), links: linksOf(finding, page) })
}

function linksOf({ code }: Finding, page: string) {
  return { page: `${page}/#/findings/${code}`, paragraph: `src/diagnose/README.md#${code}` }
}

/** An e-mail about several findings; what begins first, errors before others. */
export function alertMail(messages: readonly AlertMessage[], page: string): { subject: string; text: string } {
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
function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
}

const LISTED = 50
const MAX_SUBJECT = 150
