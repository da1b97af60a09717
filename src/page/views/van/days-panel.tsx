import type { JSX } from 'preact'
import type { DayJson, HistoryJson } from '../../../admin/schemas/days.ts'
import { dateText, duration, exact } from '../../format.ts'
import { Loading, Panel } from '../../parts/basics.tsx'
import { DayStrip, rangeText, StripHours, StripLegend, withoutGaps } from '../../parts/day-strip.tsx'
import { words } from '../../words/index.ts'

interface DaysPanelProps {
  /** Undefined while it is asked for. */
  readonly days: HistoryJson['days'] | undefined
  /** `2026-11-22`: the day whose gaps are shown. */
  readonly chosen: string
  readonly choose: (day: string) => void
}

/** The last days of a van, each as a strip: when it had positions, when not and why, and when it was connected. */
export function DaysPanel({ days: asked, chosen, choose }: DaysPanelProps): JSX.Element {
  if (!asked) return <Loading lines={7} />
  const days = asked.toReversed()
  const shown = days.find(({ date }) => date === chosen)
  return (
    <Panel title={words.van.days} hint={words.van.daysHint} class="days-panel">
      <div class="days">
        <StripHours day={days[0]} />
        <ul>
          {days.map((day) => (
            <li key={day.date}>
              <button type="button" class="day-row" aria-pressed={day === shown} onClick={() => choose(day.date)}>
                <span class="day-name">{dateText(day.date)}</span>
                <DayStrip
                  day={day}
                  present={presentOf(day)}
                  gaps={day.gaps}
                  line={{ name: 'connected', spans: day.connected }}
                />
                <span class="day-fixes num">{day.fixes > 0 ? words.van.arrived(exact(day.fixes)) : '–'}</span>
                <span class="sr-only">{words.van.gapCount(day.gaps.length)}</span>
              </button>
            </li>
          ))}
        </ul>
        <StripLegend gaps={days.flatMap(({ gaps }) => gaps)} line="connected" />
      </div>
      {shown && <Gaps day={shown} />}
    </Panel>
  )
}

/** The gaps of the chosen day, the latest first. */
function Gaps({ day }: { day: DayJson }): JSX.Element {
  const gaps = day.gaps.toReversed()
  const late = day.late > 0 ? words.van.late(day.late, exact(day.late)) : ''
  const { noGap, gapsOf } = words.van
  const title = gaps.length === 0 ? noGap(dateText(day.date)) : gapsOf(dateText(day.date))
  return (
    <div class="day-gaps">
      <p class="day-gaps-title">
        {title} {late && <span class="muted">{late}</span>}
      </p>
      <ul tabIndex={0} aria-label={title}>
        {gaps.map((gap) => (
          <li key={gap.from_at}>
            <span class={`swatch g-${gap.reason}`} />
            <span class="num">{rangeText(gap)}</span>
            <span class="muted num">{duration(Date.parse(gap.until_at) - Date.parse(gap.from_at))}</span>
            <span>{words.van.gapMeans[gap.reason] ?? gap.message}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The times between the gaps, until now. */
export function presentOf(day: DayJson): ReturnType<typeof withoutGaps> {
  return withoutGaps([day], day.gaps, new Date().toISOString())
}
