import type { JSX } from 'preact'
import type { FindingJson } from '../../admin/schemas/findings.ts'
import { api } from '../data/api.ts'
import { useNow } from '../data/hooks.ts'
import { capital, count, duration, exact, fullTime, withTimes } from '../format.ts'
import { href } from '../router.ts'
import { ChangeButton } from './change-button.tsx'
import { words } from '../words/index.ts'
import { CopyButton, Foreign } from './basics.tsx'
import { Icon } from './icon.tsx'
import { useMore } from './more.tsx'
import { useToastedWork } from './work.ts'

const MOST_SHOWN = 50
const MOST_OPEN = 10

/**
 * Findings in their order: worst first. Each says in plain words what is wrong, since when, and what to do; the operator's
 * words are one click away. Those with the same code and the same action are one entry, as in `waybridge status`.
 */
export function FindingList({
  findings,
  isQuiet = false,
}: {
  findings: readonly FindingJson[]
  isQuiet?: boolean
}): JSX.Element {
  const causes = [...Map.groupBy(findings, causeOf).values()]
  const { shown, more } = useMore(causes, MOST_SHOWN, { step: MOST_SHOWN })
  return (
    <ul class="findings">
      {shown.map(([finding, ...others]) => (
        <FindingItem key={keyOf(finding)} finding={finding} others={others} isQuiet={isQuiet} />
      ))}
      {more && <li class="findings-more">{more}</li>}
    </ul>
  )
}

/** An offer for several companies has a button for each company. */
function causeOf({ code, action, subject }: FindingJson): string {
  return `${code} ${action} ${code === OFFER ? subject.company_id : ''}`
}

function keyOf({ code, subject, since_at }: FindingJson): string {
  return `${code} ${JSON.stringify(subject)} ${since_at}`
}

interface FindingItemProps {
  readonly finding: FindingJson
  /** Those with the same cause. */
  readonly others: readonly FindingJson[]
  readonly isQuiet: boolean
}

function FindingItem({ finding, others, isQuiet }: FindingItemProps): JSX.Element {
  const now = useNow(5000)
  const { severity, plain, evidence, since_at, ended_at, count: times } = finding
  const until = ended_at === undefined ? now : Date.parse(ended_at)
  return (
    <li class={`finding is-${severity} ${ended_at ? 'is-over' : ''}`}>
      <span class="finding-mark" title={severity}>
        <Icon name={severity === 'error' ? 'close' : severity} size={14} />
      </span>
      <div class="finding-body">
        <p class="finding-message">
          <Foreign text={sentence(plain.message)} />
        </p>
        <p class="finding-meta">
          <span title={fullTime(since_at)}>{words.for(duration(until - Date.parse(since_at)))}</span>
          {times > 1 && <span>{words.now.count(count(times))}</span>}
        </p>
        {others.length > 0 && <OtherFindings others={others} known={evidence} />}
        {!ended_at && (
          <p class="finding-action">
            <span class="finding-todo">{words.now.todo}</span>
            <span>{sentence(plain.action)}</span>
          </p>
        )}
        <OperatorWords finding={finding} others={others} />
      </div>
      {!ended_at && <FindingAction finding={finding} isInVan={isQuiet} />}
    </li>
  )
}

/** Details for operators: the exact words, the code and the evidence, folded, and as text to copy. */
function OperatorWords({ finding, others }: Pick<FindingItemProps, 'finding' | 'others'>): JSX.Element {
  const { message, action, evidence, code, ended_at, link, plain } = finding
  return (
    <div class="operator">
      <details>
        <summary>{words.operator.details}</summary>
        {message !== plain.message && (
          <p>
            <Foreign text={sentence(message)} />
          </p>
        )}
        <p class="finding-meta">
          <span>{words.link[link]}</span>
          <a class="mono" href={href('findings', { id: code })}>
            {code}
          </a>
        </p>
        {evidence.length > 0 && (
          <ul class="evidence" aria-label={words.now.evidence}>
            {evidence.slice(0, 4).map((text, index) => (
              <li key={index}>
                <Foreign text={withTimes(text)} />
              </li>
            ))}
          </ul>
        )}
        {!ended_at && action !== plain.action && <p>{sentence(action)}</p>}
      </details>
      <CopyButton text={[finding, ...others].map(operatorText).join('\n\n')} label={words.operator.copy} />
    </div>
  )
}

/** Returns a finding as text for the server's operator, with its original times. */
function operatorText({ code, severity, since_at, ended_at, message, evidence, action }: FindingJson): string {
  const until = ended_at === undefined ? '' : `, ${words.operator.ended} ${ended_at}`
  return [
    `waybridge ${severity} ${code}: ${message}`,
    `${words.since(since_at)}${until}`,
    ...evidence.map((text) => `- ${text}`),
    `→ ${action}`,
  ].join('\n')
}

interface OtherFindingsProps {
  readonly others: readonly FindingJson[]
  /** Evidence that is shown already. */
  readonly known: readonly string[]
}

/** Other findings with the same cause, each a line with a link to its van; if there are many, they are folded. */
function OtherFindings({ others, known }: OtherFindingsProps): JSX.Element {
  return (
    <details class="finding-others" open={others.length <= MOST_OPEN}>
      <summary>{words.now.others(exact(others.length))}</summary>
      <ul>
        {others.map((other) => {
          const text = <Foreign text={sentence(other.plain.message)} />
          const [view, , id] = targetOf(other.code, other.subject)
          const evidence = other.evidence.filter((line) => !known.includes(line))
          return (
            <li key={keyOf(other)}>
              {view ? <a href={href(view, { id })}>{text}</a> : text}{' '}
              <span class="muted">
                <Foreign text={withTimes(evidence.join('; '))} />
              </span>
            </li>
          )
        })}
      </ul>
    </details>
  )
}

/** The action as a button, if the page can do it or show where it is done. */
function FindingAction({
  finding: { code, subject },
  isInVan,
}: {
  finding: FindingJson
  isInVan: boolean
}): JSX.Element | null {
  const { isBusy, run } = useToastedWork()
  if (code === OFFER) return <OfferButtons company={subject.company_id ?? ''} />
  if (RETRIED.has(code)) {
    const { courier_id, route_id } = subject
    const which = courier_id || route_id ? { courier_id, route_id } : { all: true }
    const retry = async () => {
      const { retried } = await api.retryParked(which)
      return words.act.retried(retried, exact(retried))
    }
    return (
      <ChangeButton type="button" class="button" disabled={isBusy} onClick={() => void run(retry)}>
        {words.act.retryParked}
      </ChangeButton>
    )
  }
  const [view, text, id] = targetOf(code, subject)
  if (!view || (isInVan && view === 'vans')) return null
  return (
    <a class="button" href={href(view, { id })}>
      {text}
    </a>
  )
}

/** Delivers what went to another route to its own as well, or leaves it. */
function OfferButtons({ company }: { company: string }): JSX.Element {
  const { isBusy, run } = useToastedWork()
  const deliver = async () => {
    const { fixes } = await api.redeliver(company)
    return fixes === 0 ? words.redeliver.decided : words.redeliver.begun(fixes, words.fixes(fixes, exact(fixes)))
  }
  const leave = async () => {
    const { fixes } = await api.leaveDelivered(company)
    return fixes === 0 ? words.redeliver.decided : words.redeliver.dropped
  }
  return (
    <span class="finding-buttons">
      <ChangeButton type="button" class="button primary" disabled={isBusy} onClick={() => void run(deliver)}>
        {words.redeliver.now}
      </ChangeButton>
      <ChangeButton type="button" class="button" disabled={isBusy} onClick={() => void run(leave)}>
        {words.redeliver.not}
      </ChangeButton>
    </span>
  )
}

const OFFER = 'redelivery_offered'
const RETRIED = new Set(['lane_refused', 'positions_refused', 'apikey_refused'])
const OF_ARRIVALS = new Set(['unknown_device', 'unknown_refused', 'wrong_port', 'not_understood', 'held_full'])
const OF_ROSTER = new Set(['roster_rejected', 'roster_pull_failed', 'roster_stale', 'two_on_route'])

function targetOf(code: string, { device }: FindingJson['subject']): [view?: string, text?: string, id?: string] {
  if (OF_ROSTER.has(code)) return ['roster', words.act.openRoster]
  if (OF_ARRIVALS.has(code) && code !== 'held_full') return ['arrivals', words.act.openArrivals]
  if (device !== undefined) return ['vans', words.act.openVan, device]
  if (code === 'backlog') return ['queues', words.act.openQueues]
  return []
}

function sentence(text: string): string {
  const first = capital(withTimes(text))
  return /[.!?…]$/.test(first) ? first : `${first}.`
}
