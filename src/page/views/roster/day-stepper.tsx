import type { JSX } from 'preact'
import { dayAfter, isDay } from '../../data/day.ts'
import { Icon } from '../../parts/icon.tsx'
import { words } from '../../words/index.ts'

interface DayStepperProps {
  readonly day: string
  readonly today: string
  readonly choose: (day: string) => void
}

/** The day that is shown: the one before, any, the next, today. */
export function DayStepper({ day, today, choose }: DayStepperProps): JSX.Element {
  return (
    <div class="day-stepper" role="group" aria-label={words.roster.day}>
      <button
        type="button"
        class="button quiet"
        aria-label={words.roster.before}
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
        onChange={(event) => isDay(event.currentTarget.value) && choose(event.currentTarget.value)}
      />
      <button type="button" class="button quiet" aria-label={words.roster.after} onClick={() => choose(dayAfter(day))}>
        <Icon name="chevron" size={14} />
      </button>
      <button type="button" class="button quiet" disabled={day === today} onClick={() => choose(today)}>
        {words.roster.today}
      </button>
    </div>
  )
}
