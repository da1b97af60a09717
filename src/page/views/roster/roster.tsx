import type { ComponentChildren, JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { allOf, api } from '../../data/api.ts'
import { zone as pageZone } from '../../data/clock.ts'
import { dayAfter, dayAt, isDay, localDay } from '../../data/day.ts'
import { dayPlan } from '../../data/day-plan.ts'
import { useAsked, useFleet, useLive } from '../../data/hooks.ts'
import { useRefresh } from '../../data/refresh.ts'
import { matches } from '../../data/van.ts'
import { exact } from '../../format.ts'
import { Empty, FailureNote, Loading } from '../../parts/basics.tsx'
import { DayStepper } from '../../parts/day-stepper.tsx'
import { DropArea } from '../../parts/drop-area.tsx'
import { FileButton } from '../../parts/file-button.tsx'
import { NoVans } from '../../parts/no-vans.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Segments } from '../../parts/segments.tsx'
import { go, href, type PageAddress } from '../../router.ts'
import { words } from '../../words/index.ts'
import { PutPanel } from './put-panel.tsx'
import { ResultsPanel } from './results-panel.tsx'
import { Timeline } from './timeline.tsx'

const SHOWS = ['all', 'routed', 'free'] as const
type Shows = (typeof SHOWS)[number]

/**
 * The roster of a day; puts a new roster, and shows the results of the last ones. Day and filter are in the address.
 */
export function Roster({ place: { query } }: { place: PageAddress }): JSX.Element {
  const { status } = useLive()
  const [file, setFile] = useState<File>()
  const [round, setRound] = useState(0)
  const zone = status?.time_zone
  if (zone === undefined) return <Loading lines={6} />
  const today = dayAt(Date.now(), zone)
  const day = isDay(query.get('day')) ? (query.get('day') as string) : today
  const set = (changed: Record<string, string | undefined>) =>
    go(href('roster', { query: { ...Object.fromEntries(query), ...changed } }), { replace: true })
  return (
    <DropArea text={words.roster.dropHere} take={setFile}>
      <div class="roster stack">
        <DayView day={day} today={today} zone={zone} query={query} set={set} take={setFile} round={round}>
          {file && (
            <PutPanel
              key={`${file.name} ${file.lastModified} ${file.size}`}
              file={file}
              day={day}
              close={(isChanged) => {
                setFile(undefined)
                if (isChanged) setRound(round + 1)
              }}
            />
          )}
        </DayView>
        <ResultsPanel round={round} changed={() => setRound(round + 1)} />
      </div>
    </DropArea>
  )
}

interface DayViewProps {
  readonly day: string
  readonly today: string
  readonly zone: string
  readonly query: URLSearchParams
  readonly set: (changed: Record<string, string | undefined>) => void
  readonly take: (file: File) => void
  /** Grows when the roster is changed here. */
  readonly round: number
  /** Stands above the days. */
  readonly children: ComponentChildren
}

/** The routes of each van on a day, as bars on a timeline. */
function DayView({ day, today, zone, query, set, take, round, children }: DayViewProps): JSX.Element {
  const fleet = useFleet()
  const bounds = useMemo(() => localDay(day, zone), [day, zone])
  const ask = () => allOf((page) => api.routes({ ...page, from: day, until: dayAfter(day) }), MOST_LINES)
  const { answer: lines, error, again } = useAsked(`lines ${day} ${round}`, ask, RELOAD_MS)
  useRefresh(['roster', 'audit'], again)
  const plan = useMemo(() => dayPlan(fleet.vans, lines ?? [], bounds), [fleet.vans, lines, bounds])
  const q = query.get('q') ?? ''
  const shows: Shows = SHOWS.find((each) => each === query.get('show')) ?? 'all'
  const shown = plan.filter(({ van, stays }) => {
    const isFound = matches(van, q) || stays.some(({ route_id, courier_id }) => [route_id, courier_id].includes(q))
    return isFound && (shows === 'all' || (shows === 'routed') === stays.length > 0)
  })
  const routed = plan.filter(({ stays }) => stays.length > 0).length
  const numbers = { all: plan.length, routed, free: plan.length - routed }
  const isLoaded = fleet.isLoaded && lines !== undefined
  return (
    <section>
      <header class="view-head">
        <h1>{words.nav.roster}</h1>
        <DayStepper day={day} today={today} choose={(other) => set({ day: other === today ? undefined : other })} />
        <SearchField label={words.roster.search} value={q} change={(text) => set({ q: text || undefined })} />
        <FileButton text={words.roster.choose} take={take} />
      </header>
      {children}
      <div class="roster-filter">
        <Segments
          label={words.roster.filter}
          value={shows}
          choices={SHOWS.map((value) => ({ value, text: `${words.roster.show[value]} ${exact(numbers[value])}` }))}
          choose={(value) => set({ show: value === 'all' ? undefined : value })}
        />
        {zone !== pageZone() && <span class="muted">{words.roster.daysOf(zone)}</span>}
      </div>
      {(error || fleet.error) && !isLoaded ? (
        <FailureNote error={error ?? fleet.error} again={again} />
      ) : !isLoaded ? (
        <Loading lines={8} />
      ) : plan.length === 0 ? (
        <div class="panel">
          <NoVans tone="primary" />
        </div>
      ) : shown.length === 0 ? (
        <div class="panel">
          <Empty icon="search" title={words.vans.noneFound} text={words.roster.noneFoundText} />
        </div>
      ) : (
        <Timeline shown={shown} plan={plan} day={bounds} changed={again} />
      )}
    </section>
  )
}

const MOST_LINES = 50_000
const RELOAD_MS = 20_000
