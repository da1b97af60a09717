import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { DayJson } from '../../../admin/schemas/days.ts'
import { zone } from '../../data/clock.ts'
import { clockText, type LocalDay } from '../../data/day.ts'
import type { TrackPoint } from '../../data/replay.ts'
import { DayStrip, StripHours } from '../../parts/day-strip.tsx'
import { Icon } from '../../parts/icon.tsx'
import { words } from '../../words/index.ts'
import { presentOf } from './days-panel.tsx'

interface ReplayProps {
  readonly day: LocalDay
  readonly sheet: DayJson | undefined
  /** Not empty, in order of time. */
  readonly track: readonly TrackPoint[]
  /** The instant that the map shows, ms UTC; undefined: now. */
  readonly at: number | undefined
  /** Whether there is a position of that instant. */
  readonly isKnown: boolean
  /** Whether the map can go back to now. */
  readonly canLeave: boolean
  readonly show: (at: number | undefined) => void
}

/** A slider through a day of a van, above its gaps in their colours, which also plays by itself. */
export function Replay({ day, sheet, track, at, isKnown, canLeave, show }: ReplayProps): JSX.Element {
  const [isPlaying, setPlaying] = useState(false)
  const [first, last] = [track[0].at, track[track.length - 1].at]
  const latest = useRef({ at, last })
  latest.current = { at, last }
  useEffect(() => {
    if (!isPlaying) return undefined
    const timer = setInterval(() => {
      const next = (latest.current.at ?? first) + SPEED * TICK_MS
      if (next >= latest.current.last) setPlaying(false)
      show(Math.min(next, latest.current.last))
    }, TICK_MS)
    return () => clearInterval(timer)
  }, [isPlaying])
  const end = Math.min(day.until, Date.now())
  const shownAt = at ?? end
  const goTo = (ms: number) => show(Math.min(Math.max(ms, day.from), end))
  const play = () => {
    if (!isPlaying && (at === undefined || at >= last)) show(first)
    setPlaying(!isPlaying)
  }
  const press = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (event.key === ' ') play()
    else if (step !== undefined) goTo(shownAt + step)
    else return
    event.preventDefault()
  }
  const text = [clockText(shownAt, zone()), stateAt(shownAt, sheet, isKnown || at === undefined)]
    .filter(Boolean)
    .join(', ')
  const bounds = { from_at: new Date(day.from).toISOString(), until_at: new Date(day.until).toISOString() }
  return (
    <div class="replay" role="group" aria-label={words.van.replay.label}>
      <button type="button" class="button small replay-play" onClick={play}>
        <Icon name={isPlaying ? 'pause' : 'play'} size={14} />
        {isPlaying ? words.van.replay.pause : words.van.replay.play}
      </button>
      <div class="replay-day">
        <DayStrip day={bounds} present={sheet ? presentOf(sheet) : []} gaps={sheet?.gaps ?? []} />
        <input
          type="range"
          class="replay-slider"
          aria-label={words.van.replay.label}
          aria-valuetext={text}
          title={words.van.replay.hint}
          min={day.from}
          max={day.until}
          step={1000}
          value={shownAt}
          onInput={({ currentTarget }) => {
            setPlaying(false)
            goTo(Number(currentTarget.value))
          }}
          onKeyDown={press}
        />
        <StripHours day={bounds} />
      </div>
      <p class="replay-text num">{at === undefined ? words.roster.now : text}</p>
      {canLeave && at !== undefined && (
        <button
          type="button"
          class="button quiet small"
          onClick={() => {
            setPlaying(false)
            show(undefined)
          }}
        >
          {words.van.replay.live}
        </button>
      )}
    </div>
  )
}

/** Why there is no position of an instant; empty if there is one. */
function stateAt(ms: number, sheet: DayJson | undefined, isKnown: boolean): string {
  if (isKnown) return ''
  const gap = sheet?.gaps.find(({ from_at, until_at }) => Date.parse(from_at) <= ms && ms < Date.parse(until_at))
  return gap ? (words.van.gap[gap.reason] ?? gap.message) : words.van.replay.none
}

const MINUTE_MS = 60_000
/** What keys add, ms. */
const STEPS: Readonly<Record<string, number | undefined>> = {
  ArrowLeft: -MINUTE_MS,
  ArrowDown: -MINUTE_MS,
  ArrowRight: MINUTE_MS,
  ArrowUp: MINUTE_MS,
  PageDown: -60 * MINUTE_MS,
  PageUp: 60 * MINUTE_MS,
}
const TICK_MS = 100
/** Ten minutes of the day in a second. */
const SPEED = 600
