import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { allOf, api, unlessMissing } from '../../data/api.ts'
import { zone } from '../../data/clock.ts'
import { dayAt } from '../../data/day.ts'
import { useAsked, useFleet } from '../../data/hooks.ts'
import { useRefresh } from '../../data/refresh.ts'
import { nameOf } from '../../data/van.ts'
import { day } from '../../format.ts'
import { Empty, FailureNote, Loading } from '../../parts/basics.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Segments } from '../../parts/segments.tsx'
import { go, href, type PageAddress } from '../../router.ts'
import { words } from '../../words/index.ts'
import { ActivityItem } from './activity-item.tsx'
import { type ActivityEntry, entriesOf, entryText, isOf, KINDS } from './entries.ts'

/** Events, latest first: changes and who made them, results of rosters, and ended faults. */
export function Activity({ place: { query } }: { place: PageAddress }): JSX.Element {
  const [most, setMost] = useState(STEP)
  const { answer, error, again } = useAsked('activity', () => load(most), RELOAD_MS)
  useRefresh(['audit', 'finding', 'roster'], again)
  const { vans } = useFleet()
  const names = useMemo(() => new Map(vans.map((van) => [van.id, nameOf(van)])), [vans])
  const kind = KINDS.find((each) => each === query.get('kind'))
  const q = query.get('q') ?? ''
  const set = (changed: Record<string, string | undefined>) =>
    go(href('activity', { query: { ...Object.fromEntries(query), ...changed } }), { replace: true })
  const shown = useMemo(() => {
    const wanted = q.trim().toLowerCase()
    return (answer?.entries ?? []).filter(
      (entry) => (!kind || isOf(entry, kind)) && (!wanted || entryText(entry).toLowerCase().includes(wanted)),
    )
  }, [answer, kind, q])
  return (
    <div class="activity">
      <header class="view-head">
        <h1>{words.nav.activity}</h1>
        <SearchField label={words.activity.search} value={q} change={(text) => set({ q: text || undefined })} />
        <Segments
          label={words.activity.filter}
          value={kind ?? 'all'}
          choices={(['all', ...KINDS] as const).map((value) => ({ value, text: words.activity.kind[value] }))}
          choose={(value) => set({ kind: value === 'all' ? undefined : value })}
        />
      </header>
      {error && !answer ? (
        <FailureNote error={error} again={again} />
      ) : !answer ? (
        <Loading lines={8} />
      ) : shown.length === 0 ? (
        <NothingYet isFiltered={answer.entries.length > 0} kind={kind} />
      ) : (
        <Days entries={shown} names={names} />
      )}
      {answer?.hasMore && kind !== 'ended' && kind !== 'roster' && (
        <p class="activity-more">
          <button type="button" class="button" onClick={() => (setMost(most + STEP), again())}>
            {words.activity.earlier}
          </button>
        </p>
      )}
    </div>
  )
}

/** Under each day its entries. */
function Days({
  entries,
  names,
}: {
  entries: readonly ActivityEntry[]
  names: ReadonlyMap<string, string>
}): JSX.Element {
  const days = [...Map.groupBy(entries, ({ at }) => dayAt(Date.parse(at), zone()))]
  return (
    <>
      {days.map(([name, ofDay]) => (
        <section key={name} class="panel activity-day" aria-label={day(ofDay[0].at)}>
          <h2 class="activity-date">{day(ofDay[0].at)}</h2>
          <ol>
            {ofDay.map((entry) => (
              <ActivityItem key={entry.key} entry={entry} names={names} />
            ))}
          </ol>
        </section>
      ))}
    </>
  )
}

function NothingYet({ isFiltered, kind }: { isFiltered: boolean; kind?: ActivityEntry['kind'] }): JSX.Element {
  const [title, text] = isFiltered
    ? [words.activity.noneFound, kind ? words.activity.noneOf[kind] : words.activity.noneFoundText]
    : [words.activity.none, words.activity.noneText]
  return (
    <div class="panel">
      <Empty icon={isFiltered ? 'search' : 'activity'} title={title} text={text}>
        {!isFiltered && (
          <a class="button" href={href('roster')}>
            {words.act.openRoster}
          </a>
        )}
      </Empty>
    </div>
  )
}

/** `hasMore`: there are earlier changes than these. */
async function load(most: number) {
  const [audit, findings, roster] = await Promise.all([
    allOf((page) => api.audit(page), most),
    unlessMissing(allOf((page) => api.findings(page), MOST_FINDINGS)),
    unlessMissing(api.roster()),
  ])
  const ended = (findings ?? []).filter(({ ended_at }) => ended_at !== undefined)
  const hasMore = audit.length >= most
  const entries = entriesOf({ audit, ended, roster: roster?.results ?? [] })
  // Entries older than the oldest loaded change appear once the changes of that time are loaded.
  const since = hasMore ? (audit.at(-1)?.at ?? '') : ''
  return { entries: entries.filter(({ at }) => at >= since), hasMore }
}

const STEP = 100
const MOST_FINDINGS = 1000
const RELOAD_MS = 15_000
