import type { JSX } from 'preact'
import type { AuditJson } from '../../../admin/schemas/audit.ts'
import type { FindingJson } from '../../../admin/schemas/findings.ts'
import type { WriterResultJson } from '../../../admin/schemas/roster.ts'
import { capital, duration, exact, fullTime, timeOfDay, withTimes } from '../../format.ts'
import { Foreign } from '../../parts/basics.tsx'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { href } from '../../router.ts'
import { words } from '../../words/index.ts'
import { PullFailure, RemarkList } from '../roster/remark-list.tsx'
import { type ActivityEntry, deedOf, detailsOf, deviceInPath, movesIn } from './entries.ts'

interface NamesOfVans {
  /** By id. */
  readonly names: ReadonlyMap<string, string>
}

/** A line of the activity: when, what, by whom, with what result. */
export function ActivityItem({ entry, names }: { entry: ActivityEntry } & NamesOfVans): JSX.Element {
  switch (entry.kind) {
    case 'change':
      return <ChangeItem row={entry.row} result={entry.result} names={names} />
    case 'roster':
      return <RosterItem result={entry.result} />
    default:
      return <EndedItem finding={entry.finding} names={names} />
  }
}

interface LineProps {
  readonly at: string
  readonly icon: IconName
  readonly tone: string
  readonly children: JSX.Element | (JSX.Element | false | undefined)[]
}

function Line({ at, icon, tone, children }: LineProps): JSX.Element {
  return (
    <li class="activity-item">
      <time class="activity-time num" dateTime={at} title={fullTime(at)}>
        {timeOfDay(at)}
      </time>
      <span class={`activity-mark is-${tone}`}>
        <Icon name={icon} size={14} />
      </span>
      <div class="activity-body">{children}</div>
    </li>
  )
}

function ChangeItem({ row, result, names }: { row: AuditJson; result?: WriterResultJson } & NamesOfVans): JSX.Element {
  const device = deviceInPath(row)
  const isRefused = row.status >= 400
  const summary = Object.entries(row.summary ?? {}).filter(
    ([name, value]) => value !== 0 && value !== false && name !== 'moves',
  )
  return (
    <Line at={row.at} icon={isRefused ? 'close' : iconOf(row)} tone={isRefused ? 'error' : 'change'}>
      <p class="activity-title">
        <span>{deedOf(row)}</span>
        {device !== undefined && <DeviceLink id={device} names={names} />}
        {isRefused && <span class="tag is-error num">{words.activity.refused(String(row.status))}</span>}
        {summary.map(([name, value]) => (
          <span key={name} class="tag num">
            {value === true ? (words.activity.flag[name] ?? name) : `${words.activity.figure[name] ?? name} ${value}`}
          </span>
        ))}
      </p>
      <p class="finding-meta">
        <span>{words.activity.by(row.token)}</span>
        {detailsOf(row).map((text) => (
          <Foreign key={text} text={text} />
        ))}
        {movesIn(row, (id) => names.get(id) ?? id).map((text) => (
          <Foreign key={text} text={text} />
        ))}
        {result?.undone && <span class="tag is-warning">{words.roster.undone}</span>}
      </p>
      <RemarkList title={words.roster.rejected} tone="error" remarks={result?.rejected ?? []} />
      <RemarkList title={words.roster.warnings} tone="warning" remarks={result?.warnings ?? []} />
    </Line>
  )
}

/** The name of a device, if known. */
function DeviceLink({ id, names }: { id: string } & NamesOfVans): JSX.Element {
  return (
    <a href={href('vans', { id })}>
      <Foreign text={names.get(id) ?? id} />
    </a>
  )
}

function RosterItem({ result }: { result: WriterResultJson }): JSX.Element {
  const { writer, kind, list, at, added, changed, removed, rejected, warnings, undone, failing } = result
  const tone = failing || rejected.length > 0 ? 'error' : warnings.length > 0 ? 'warning' : 'ok'
  return (
    <Line at={at} icon="roster" tone={tone}>
      <p class="activity-title">
        <span>
          {list ? words.activity.listOf : words.activity.rosterOf} <Foreign text={writer} />
        </span>
        <span class="tag">{words.roster.kind[list ?? kind]}</span>
        {undone && <span class="tag is-warning">{words.roster.undone}</span>}
      </p>
      <p class="finding-meta num">{words.roster.counts(exact(added), exact(changed), exact(removed))}</p>
      <PullFailure failing={failing} />
      <RemarkList title={words.roster.rejected} tone="error" remarks={rejected} />
      <RemarkList title={words.roster.warnings} tone="warning" remarks={warnings} />
    </Line>
  )
}

function EndedItem({ finding, names }: { finding: FindingJson } & NamesOfVans): JSX.Element {
  const { plain, since_at, ended_at = since_at, count: times, code, link, subject, severity } = finding
  return (
    <Line at={ended_at} icon="ok" tone={`ended was-${severity}`}>
      <p class="activity-title">
        <Foreign text={capital(withTimes(plain.message))} />
        <span class="tag is-ok">{words.activity.ended}</span>
      </p>
      <p class="finding-meta">
        <span title={fullTime(since_at)}>
          {words.activity.lasted(duration(Date.parse(ended_at) - Date.parse(since_at)))}
        </span>
        {times > 1 && <span class="num">{words.now.count(exact(times))}</span>}
        <a href={href('findings', { id: code })} title={`${code}, ${words.link[link]}`}>
          {words.operator.details}
        </a>
        {subject.device !== undefined && <DeviceLink id={subject.device} names={names} />}
      </p>
    </Line>
  )
}

function iconOf({ operation, method }: AuditJson): IconName {
  if (operation.startsWith('/admin/routes') || /(assign|redeliver)$/.test(operation)) return 'swap'
  if (operation.startsWith('/admin/roster')) return 'undo'
  if (operation.startsWith('/admin/parked')) return method === 'DELETE' ? 'close' : 'refresh'
  return operation.startsWith('/admin/devices') ? 'vans' : 'activity'
}
