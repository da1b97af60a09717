import type { JSX } from 'preact'
import { dayAfter, isDay } from '../data/day.ts'
import { words } from '../words/index.ts'
import { Icon } from './icon.tsx'

interface DayStepperProps {
  readonly day: string
  readonly today: string
  /** The first and the last day that may be chosen; default: any. */
  readonly first?: string
  readonly last?: string
  readonly choose: (day: string) => void
}

/** The day that is shown: the one before, any, the next, today. */
export function DayStepper({ day, today, first, last, choose }: DayStepperProps): JSX.Element {
  const isWithin = (other: string) => other >= (first ?? other) && other <= (last ?? other)
  return (
    <div class="day-stepper" role="group" aria-label={words.roster.day}>
      <button
        type="button"
        class="button quiet"
        aria-label={words.roster.before}
        disabled={!isWithin(dayAfter(day, -1))}
        onClick={() => choose(dayAfter(day, -1))}
      >
        <span class="turned">
          <Icon name="chevron" size={14} />
        </span>
      </button>
      <input
        type="date"
        aria-label={words.roster.day}
        value={day}
        min={first}
        max={last}
        onChange={({ currentTarget: { value } }) => isDay(value) && isWithin(value) && choose(value)}
      />
      <button
        type="button"
        class="button quiet"
        aria-label={words.roster.after}
        disabled={!isWithin(dayAfter(day))}
        onClick={() => choose(dayAfter(day))}
      >
        <Icon name="chevron" size={14} />
      </button>
      <button type="button" class="button quiet" disabled={day === today} onClick={() => choose(today)}>
        {words.roster.today}
      </button>
    </div>
  )
}
