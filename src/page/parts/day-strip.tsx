import type { JSX } from 'preact'
import { zone } from '../data/clock.ts'
import { clockText } from '../data/day.ts'
import { words } from '../words/index.ts'

/** Instants as the admin port writes them. */
export interface TimeSpan {
  readonly from_at: string
  readonly until_at: string
}

/** A time without a position, and why. */
export interface StripGap extends TimeSpan {
  readonly reason: string
  readonly message: string
}

interface DayStripProps {
  readonly day: TimeSpan
  /** When there were positions. */
  readonly present: readonly TimeSpan[]
  readonly gaps: readonly StripGap[]
  /** A line below: when a van was connected, or is planned. */
  readonly line?: { readonly name: 'connected' | 'planned'; readonly spans: readonly TimeSpan[] }
  /** Called with a gap that is clicked. */
  readonly choose?: (gap: StripGap) => void
}

/** A day from left to right: positions and gaps above, a line below. */
export function DayStrip({ day, present, gaps, line, choose }: DayStripProps): JSX.Element {
  const { from, until } = boundsOf(day)
  const at = (ms: number) => ((Math.min(Math.max(ms, from), until) - from) / (until - from)) * WIDTH
  const bar = (span: TimeSpan, name: string) => {
    const [start, end] = [at(Date.parse(span.from_at)), at(Date.parse(span.until_at))]
    return { class: name, x: start, width: Math.max(end - start, LEAST_WIDTH) }
  }
  return (
    <svg class="day-strip" viewBox={`0 0 ${WIDTH} 24`} preserveAspectRatio="none" aria-hidden="true">
      <rect class="g-none" x={0} y={0} width={WIDTH} height={18} />
      {present.map((span) => (
        <rect key={span.from_at} {...bar(span, 'g-fix')} y={0} height={18}>
          <BarTitle span={span} text={words.van.gap.fix} />
        </rect>
      ))}
      {gaps.map((gap) => (
        <rect
          key={gap.from_at}
          {...bar(gap, `g-${gap.reason} ${choose ? 'is-choice' : ''}`)}
          y={0}
          height={18}
          onClick={choose && (() => choose(gap))}
        >
          <BarTitle span={gap} text={words.van.gap[gap.reason] ?? gap.message} />
        </rect>
      ))}
      {line?.spans.map((span) => (
        <rect key={span.from_at} {...bar(span, `g-${line.name}`)} y={21} height={3}>
          <BarTitle span={span} text={LINE_WORDS[line.name]} />
        </rect>
      ))}
    </svg>
  )
}

function BarTitle({ span, text }: { span: TimeSpan; text: string }): JSX.Element {
  return <title>{`${rangeText(span)} ${text}`}</title>
}

/** Explains the colours in use. */
export function StripLegend({ gaps, line }: { gaps: readonly StripGap[]; line: 'connected' | 'planned' }): JSX.Element {
  const reasons = new Set(gaps.map(({ reason }) => reason))
  const known = Object.keys(words.van.gap).filter((name) => name === 'fix' || reasons.has(name))
  return (
    <ul class="day-legend">
      {known.map((name) => (
        <li key={name}>
          <span class={`swatch g-${name}`} /> {words.van.gap[name]}
        </li>
      ))}
      <li>
        <span class={`swatch g-${line}`} /> {LINE_WORDS[line]}
      </li>
    </ul>
  )
}

/** Shows the hours of the page's clock at these parts of a roster day. */
export function StripHours({ day }: { day: TimeSpan }): JSX.Element {
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

/** The parts of `spans`, at most until an instant, that no gap covers. Gaps are in order of time. */
export function withoutGaps(spans: readonly TimeSpan[], gaps: readonly TimeSpan[], until: string): TimeSpan[] {
  return spans.flatMap((span) => {
    const parts: TimeSpan[] = []
    const end = span.until_at < until ? span.until_at : until
    let from_at = span.from_at
    for (const gap of gaps) {
      if (gap.until_at <= from_at || gap.from_at >= end) continue
      if (gap.from_at > from_at) parts.push({ from_at, until_at: gap.from_at })
      from_at = gap.until_at
    }
    return from_at < end ? [...parts, { from_at, until_at: end }] : parts
  })
}

/** `06:10–06:40` */
export function rangeText({ from_at, until_at }: TimeSpan): string {
  return `${clockText(Date.parse(from_at), zone())}–${clockText(Date.parse(until_at), zone())}`
}

function boundsOf({ from_at, until_at }: TimeSpan): { readonly from: number; readonly until: number } {
  return { from: Date.parse(from_at), until: Date.parse(until_at) }
}

const LINE_WORDS = { connected: words.van.connection, planned: words.day.planned }
const WIDTH = 1440
const LEAST_WIDTH = 2
