import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { RosterPutJson, VanChangeJson } from '../../../admin/schemas/roster.ts'
import { zone } from '../../data/clock.ts'
import { clockText, dayAt } from '../../data/day.ts'
import { useFleet } from '../../data/hooks.ts'
import { nameOf } from '../../data/van.ts'
import { collator, dateText, exact } from '../../format.ts'
import { Foreign } from '../../parts/basics.tsx'
import { useMore } from '../../parts/more.tsx'
import { href } from '../../router.ts'
import { words } from '../../words/index.ts'
import { EntryChanges } from './entry-changes.tsx'
import { RemarkList } from './remark-list.tsx'

interface PutAnswerProps {
  readonly answer: RosterPutJson
  /** The only day of the put: lines do not repeat it. */
  readonly day?: string
}

/** The changes of a put, by van, and the remarks about its lines. */
export function PutAnswer({ answer, day: onlyDay }: PutAnswerProps): JSX.Element {
  const { rejected, warnings = [], takes = [], without_route, changes = [], entries = [] } = answer
  const { vans } = useFleet()
  const names = useMemo(() => new Map(vans.map((van) => [van.id, nameOf(van)])), [vans])
  const losers = new Set(takes.map(({ device }) => device))
  return (
    <div class="put-answer">
      <Counts answer={answer} />
      <RemarkList title={words.roster.rejected} tone="error" remarks={rejected} />
      <RemarkList title={words.roster.warnings} tone="warning" remarks={warnings} />
      {entries.length > 0 && <EntryChanges changes={entries} />}
      {changes.length > 0 && <ChangeList {...{ changes, losers, onlyDay }} />}
      {without_route.length > 0 && (
        <p class="put-without">
          <span class="muted">{words.roster.without(without_route.length, exact(without_route.length))}</span>{' '}
          {without_route.slice(0, MOST_NAMED).map((id) => (
            <a key={id} href={href('vans', { id })}>
              <Foreign text={names.get(id) ?? id} />
            </a>
          ))}
          {without_route.length > MOST_NAMED && '…'}
        </p>
      )}
    </div>
  )
}

function Counts({ answer }: { answer: RosterPutJson }): JSX.Element {
  const { added, changed, removed, rejected, warnings = [], takes = [] } = answer
  const figures = [
    [words.roster.figure.added, added, 'ok'],
    [words.roster.figure.changed, changed, 'info'],
    [words.roster.figure.removed, removed, 'removed'],
    [words.roster.figure.rejected, rejected.length, 'error'],
    [words.roster.figure.warnings, warnings.length, 'warning'],
    [words.roster.figure.lose, takes.length, 'error'],
  ] as const
  return <Figures figures={figures} />
}

/** What a put changes, or leaves out: names, numbers and tones. */
export function Figures({ figures }: { figures: readonly (readonly [string, number, string])[] }): JSX.Element {
  return (
    <ul class="put-counts">
      {figures.map(([name, n, tone]) => (
        <li key={name} class={n === 0 ? 'is-zero' : `is-${tone}`}>
          <span class="figure-value num">{exact(n)}</span>
          <span class="figure-name">{name}</span>
        </li>
      ))}
    </ul>
  )
}

interface ChangeListProps {
  readonly changes: readonly VanChangeJson[]
  readonly losers: ReadonlySet<string>
  readonly onlyDay?: string
}

/** Van by van: those that lose their route first. */
function ChangeList({ changes, losers, onlyDay }: ChangeListProps): JSX.Element {
  const inOrder = changes.toSorted(
    (one, other) =>
      Number(losers.has(other.device)) - Number(losers.has(one.device)) ||
      collator.compare(one.name ?? one.device, other.name ?? other.device),
  )
  const { shown, more } = useMore(inOrder, MOST_VANS)
  return (
    <div class="changes">
      <ul>
        {shown.map(({ device, name = device, before, after }) => (
          <li key={device} class={`change ${losers.has(device) ? 'is-loser' : ''}`}>
            <span class="change-van">
              <Foreign text={name} />
              {losers.has(device) && <span class="tag is-error">{words.roster.loses}</span>}
            </span>
            <span class="change-lines">
              {differing(before, after).map((line) => (
                <LineText key={keyOf(line)} line={line} kind="before" text={spanText(line, onlyDay)} />
              ))}
              {differing(after, before).map((line) => (
                <LineText key={keyOf(line)} line={line} kind="after" text={spanText(line, onlyDay)} />
              ))}
            </span>
          </li>
        ))}
      </ul>
      {more}
    </div>
  )
}

type LineOfChange = VanChangeJson['before'][number]

function LineText({ line, kind, text }: { line: LineOfChange; kind: 'before' | 'after'; text: string }): JSX.Element {
  const Tag = kind === 'before' ? 'del' : 'ins'
  return (
    <Tag class={`line-text num is-${kind}`}>
      <span class="sr-only">{words.roster.lineIs[kind]} </span>
      <b>{line.route_id}</b> {words.vans.courier(line.courier_id)} · {text}
    </Tag>
  )
}

/** `Sun 22 Nov, 06:00–20:00` */
function spanText({ from_at, until_at }: LineOfChange, onlyDay?: string): string {
  const from = from_at === undefined ? undefined : Date.parse(from_at)
  const until = until_at === undefined ? undefined : Date.parse(until_at)
  if (from === undefined || until === undefined) return words.roster.always
  const name = zone()
  const isOneDay = dayAt(from, name) === dayAt(until - 1, name)
  const isMidnight = isOneDay && dayAt(until, name) !== dayAt(from, name)
  const end = isMidnight ? '24:00' : clockText(until, name)
  const dayText = (ms: number) => dateText(dayAt(ms, name))
  const begin = dayAt(from, name) === onlyDay ? '' : `${dayText(from)}, `
  return `${begin}${clockText(from, name)}–${isOneDay ? '' : `${dayText(until)}, `}${end}`
}

/** Returns the lines that `others` does not have. */
function differing(lines: readonly LineOfChange[], others: readonly LineOfChange[]): readonly LineOfChange[] {
  const known = new Set(others.map(keyOf))
  return lines.filter((line) => !known.has(keyOf(line)))
}

function keyOf({ courier_id, route_id, from_at, until_at }: LineOfChange): string {
  return `${from_at} ${until_at} ${courier_id} ${route_id}`
}

const MOST_NAMED = 12
const MOST_VANS = 20
