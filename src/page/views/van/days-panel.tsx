import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { DayJson } from '../../../admin/schemas/history.ts'
import { api, unlessMissing } from '../../data/api.ts'
import { zone } from '../../data/clock.ts'
import { clockText } from '../../data/day.ts'
import { useAsked } from '../../data/hooks.ts'
import { dateText, duration, exact } from '../../format.ts'
import { Loading, Panel } from '../../parts/basics.tsx'
import { words } from '../../words/index.ts'

/** The last days of a van, each as a strip: when it had positions, when not and why, and when it was connected. */
export function DaysPanel({ id }: { id: string }): JSX.Element | null {
  const { answer, error } = useAsked(
    `days ${id}`,
    () => unlessMissing(api.history(id)).then((found) => found ?? null),
    DAYS_MS,
  )
  const [chosen, choose] = useState<string>()
  if (answer === null || error) return null
  if (!answer) return <Loading lines={7} />
  const days = answer.days.toReversed()
  const shown = days.find(({ date }) => date === chosen) ?? days[0]
  return (
    <Panel title={words.van.days} hint={words.van.daysHint} class="days-panel">
      <div class="days">
        <Hours day={days[0]} />
        <ul>
          {days.map((day) => (
            <li key={day.date}>
              <button type="button" class="day-row" aria-pressed={day === shown} onClick={() => choose(day.date)}>
                <span class="day-name">{nameOf(day)}</span>
                <Strip day={day} />
                <span class="day-fixes num">{day.fixes > 0 ? words.fixes(day.fixes, exact(day.fixes)) : '–'}</span>
                <span class="sr-only">{words.van.gapCount(day.gaps.length)}</span>
              </button>
            </li>
          ))}
        </ul>
        <Legend days={days} />
      </div>
      {shown && <Gaps day={shown} />}
    </Panel>
  )
}

/** The hours of the page's clock at which the days of the roster have these parts behind them. */
function Hours({ day }: { day: DayJson }): JSX.Element {
  const { from, until } = boundsOf(day)
  const isRosters = clockText(from, zone()) === '00:00'
  return (
    <p class="day-hours num" aria-hidden="true">
      {[0, 6, 12, 18, 24].map((hour) => (
        <span key={hour} style={{ left: `${(hour / 24) * 100}%` }}>
          {isRosters ? String(hour).padStart(2, '0') : clockText(from + (hour / 24) * (until - from), zone())}
        </span>
      ))}
    </p>
  )
}

/** A day from left to right: positions and gaps above, the connection as a line below. */
function Strip({ day }: { day: DayJson }): JSX.Element {
  const { from, until } = boundsOf(day)
  const at = (ms: number) => ((Math.min(ms, until) - from) / (until - from)) * WIDTH
  const bar = (span: TimeSpan, name: string) => {
    const [start, end] = [at(Date.parse(span.from_at)), at(Date.parse(span.until_at))]
    return { class: name, x: start, width: Math.max(end - start, LEAST_WIDTH) }
  }
  return (
    <svg class="day-strip" viewBox={`0 0 ${WIDTH} 24`} preserveAspectRatio="none" aria-hidden="true">
      <rect class="g-none" x={0} y={0} width={WIDTH} height={18} />
      {presentOf(day).map((span) => (
        <rect key={span.from_at} {...bar(span, 'g-fix')} y={0} height={18}>
          <title>{titleOf(span, words.van.gap.fix)}</title>
        </rect>
      ))}
      {day.gaps.map((gap) => (
        <rect key={gap.from_at} {...bar(gap, `g-${gap.reason}`)} y={0} height={18}>
          <title>{titleOf(gap, words.van.gap[gap.reason] ?? gap.message)}</title>
        </rect>
      ))}
      {day.connected.map((span) => (
        <rect key={span.from_at} {...bar(span, 'g-connected')} y={21} height={3}>
          <title>{titleOf(span, words.van.connection)}</title>
        </rect>
      ))}
    </svg>
  )
}

function titleOf(span: TimeSpan, text: string): string {
  return `${rangeOf(span)} ${text}`
}

/** What the colours mean that are there. */
function Legend({ days }: { days: readonly DayJson[] }): JSX.Element {
  const reasons = new Set<string>(days.flatMap(({ gaps }) => gaps.map(({ reason }) => reason)))
  const known = Object.keys(words.van.gap).filter((name) => name === 'fix' || reasons.has(name))
  return (
    <ul class="day-legend">
      {known.map((name) => (
        <li key={name}>
          <span class={`swatch g-${name}`} /> {words.van.gap[name]}
        </li>
      ))}
      <li>
        <span class="swatch g-connected" /> {words.van.connection}
      </li>
    </ul>
  )
}

/** The gaps of the chosen day, the latest first. */
function Gaps({ day }: { day: DayJson }): JSX.Element {
  const gaps = day.gaps.toReversed()
  const late = day.late > 0 ? words.van.late(exact(day.late)) : ''
  const { noGap, gapsOf } = words.van
  const title = gaps.length === 0 ? noGap(nameOf(day)) : gapsOf(nameOf(day))
  return (
    <div class="day-gaps">
      <p class="day-gaps-title">
        {title} {late && <span class="muted">{late}</span>}
      </p>
      <ul tabIndex={0} aria-label={title}>
        {gaps.map((gap) => (
          <li key={gap.from_at}>
            <span class={`swatch g-${gap.reason}`} />
            <span class="num">{rangeOf(gap)}</span>
            <span class="muted num">{duration(Date.parse(gap.until_at) - Date.parse(gap.from_at))}</span>
            <span>{words.van.gapMeans[gap.reason] ?? gap.message}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

interface TimeSpan {
  readonly from_at: string
  readonly until_at: string
}

function boundsOf({ from_at, until_at }: TimeSpan): { readonly from: number; readonly until: number } {
  return { from: Date.parse(from_at), until: Date.parse(until_at) }
}

/** The times between the gaps, until now. */
function presentOf(day: DayJson): TimeSpan[] {
  const end = new Date(Math.min(Date.parse(day.until_at), Date.now())).toISOString()
  const spans: TimeSpan[] = []
  let from_at = day.from_at
  for (const gap of [...day.gaps, { from_at: end, until_at: end }]) {
    if (gap.from_at > from_at) spans.push({ from_at, until_at: gap.from_at })
    from_at = gap.until_at
  }
  return spans
}

function nameOf({ date }: DayJson): string {
  return dateText(date)
}

function rangeOf({ from_at, until_at }: TimeSpan): string {
  return `${clockText(Date.parse(from_at), zone())}–${clockText(Date.parse(until_at), zone())}`
}

const DAYS_MS = 20_000
const WIDTH = 1440
const LEAST_WIDTH = 2
