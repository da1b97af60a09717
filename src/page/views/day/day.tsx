import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { DaySheetJson, DaysJson } from '../../../admin/schemas/days.ts'
import { allOf, api } from '../../data/api.ts'
import { zone as pageZone } from '../../data/clock.ts'
import { dayAfter, dayAt, isDay } from '../../data/day.ts'
import { useAsked, useCompanies, useFleet, useLive } from '../../data/hooks.ts'
import { useRefresh } from '../../data/refresh.ts'
import { nameOf } from '../../data/van.ts'
import { dateText, exact, time } from '../../format.ts'
import { Empty, FailureNote, Loading, messageOf } from '../../parts/basics.tsx'
import { DayStepper } from '../../parts/day-stepper.tsx'
import { StripHours, StripLegend } from '../../parts/day-strip.tsx'
import { Icon } from '../../parts/icon.tsx'
import { toast } from '../../parts/toast.tsx'
import { go, href, type PageAddress } from '../../router.ts'
import { words } from '../../words/index.ts'
import { DayRow } from './day-row.tsx'

/** The result of each route for a day, the worst share first. Day and company are in the address. */
export function Day({ place: { query } }: { place: PageAddress }): JSX.Element {
  const { status } = useLive()
  const companies = useCompanies()
  const zone = status?.time_zone
  if (zone === undefined) return <Loading lines={6} />
  const today = dayAt(Date.now(), zone)
  const asked = query.get('day')
  const day = isDay(asked) ? asked : today
  const company = query.get('company') ?? undefined
  const set = (changed: Record<string, string | undefined>) =>
    go(href('day', { query: { ...Object.fromEntries(query), ...changed } }), { replace: true })
  const known = companies.find(({ company_id }) => company_id === company)
  return (
    <div class="day-view">
      <header class="view-head">
        <h1>
          {words.nav.day}
          <span class="print-only">
            : {dateText(day)} {day.slice(0, 4)}
            {company !== undefined && `, ${known?.name ?? words.roster.company(company)}`}
          </span>
        </h1>
        <DayStepper
          day={day}
          today={today}
          first={dayAfter(today, -MOST_DAYS)}
          last={today}
          choose={(other) => set({ day: other === today ? undefined : other })}
        />
        {(companies.length > 1 || company !== undefined) && (
          <select
            class="select"
            aria-label={words.van.field.company_id}
            value={company ?? ''}
            onChange={({ currentTarget: { value } }) => set({ company: value || undefined })}
          >
            <option value="">{words.day.all}</option>
            {company !== undefined && !known && <option value={company}>{company}</option>}
            {companies.map(({ company_id, name }) => (
              <option key={company_id} value={company_id}>
                {name ? `${name} (${company_id})` : company_id}
              </option>
            ))}
          </select>
        )}
      </header>
      {zone !== pageZone() && <p class="muted day-zone">{words.roster.daysOf(zone)}</p>}
      <DayTable
        day={day}
        company={company}
        none={company === undefined ? words.day.none : words.day.noneOf(known?.name ?? words.roster.company(company))}
      />
    </div>
  )
}

interface DayTableProps {
  readonly day: string
  readonly company: string | undefined
  /** Shown if there is no route. */
  readonly none: string
}

function DayTable({ day, company, none }: DayTableProps): JSX.Element {
  const asked = { day, company_id: company }
  const { answer, error, again } = useAsked(`day ${day} ${company ?? ''}`, () => readDay(asked), RELOAD_MS)
  useRefresh(['roster'], again)
  const { vans } = useFleet()
  const names = useMemo(() => new Map(vans.map((van) => [van.id, nameOf(van)])), [vans])
  const [most, setMost] = useState(STEP)
  const [isPrinting, setPrinting] = useState(false)
  useEffect(() => setMost(STEP), [day, company])
  // Once all routes are there.
  useEffect(() => {
    if (!isPrinting) return
    print()
    setPrinting(false)
  }, [isPrinting])
  if (!answer) return error ? <FailureNote error={error} again={again} /> : <Loading lines={8} />
  const { sheets, as_of_at, until_at, readAt } = answer
  const shown = isPrinting ? sheets : sheets.slice(0, most)
  const whole = sheets.filter(({ share }) => share === 1).length
  return (
    <>
      {error && (
        <p class="day-stale" role="alert">
          <Icon name="warning" size={14} />
          {words.day.stale(time(readAt))}: {messageOf(error)}
        </p>
      )}
      {sheets.length === 0 ? (
        <div class="panel">
          <Empty icon="day" title={none} text={words.day.noneText}>
            <a class="button" href={href('roster', { query: { day } })}>
              {words.act.openRoster}
            </a>
          </Empty>
        </div>
      ) : (
        <section class="panel day-panel" aria-label={words.day.hint}>
          <header class="panel-head">
            <h2>{words.day.total(sheets.length, exact(sheets.length))}</h2>
            <span class="hint">
              {words.day.whole(exact(whole))}
              {as_of_at < until_at && ` · ${words.day.asOf(time(as_of_at))}`}
            </span>
            <span class="panel-aside">
              <button type="button" class="button quiet small" onClick={() => setPrinting(true)}>
                <Icon name="print" size={14} />
                {words.day.print}
              </button>
              <button type="button" class="button quiet small" onClick={() => void saveCsv(asked)}>
                <Icon name="download" size={14} />
                {words.day.csv}
              </button>
            </span>
          </header>
          <table class="day-table">
            <thead>
              <tr>
                <th scope="col">{words.day.column.route}</th>
                <th scope="col" class="is-number" title={words.day.share}>
                  {words.day.column.share}
                </th>
                <th scope="col" class="day-strip-head">
                  <span class="sr-only">{words.day.column.strip}</span>
                  <StripHours day={answer} />
                </th>
                <th scope="col" class="is-number">
                  {words.day.column.covered}
                </th>
                <th scope="col" class="is-number">
                  {words.day.column.start}
                </th>
                <th scope="col" class="is-number">
                  {words.day.column.longest}
                </th>
                <th scope="col">{words.day.column.vans}</th>
              </tr>
            </thead>
            {shown.map((sheet) => (
              <DayRow key={keyOf(sheet)} sheet={sheet} day={answer} names={names} />
            ))}
          </table>
          <StripLegend gaps={shown.flatMap(({ gaps }) => gaps)} line="planned" />
          {sheets.length > shown.length && (
            <p class="day-more">
              <span class="muted">{words.day.cut(exact(shown.length), exact(sheets.length))}</span>
              <button type="button" class="button" onClick={() => setMost(most + STEP)}>
                {words.more}
              </button>
            </p>
          )}
        </section>
      )}
    </>
  )
}

type ReadDay = Omit<DaysJson, 'results' | 'next_page_token'> & {
  readonly sheets: readonly DaySheetJson[]
  /** When it was answered, ms UTC. */
  readonly readAt: number
}

/** All routes of a day, the worst first, as the admin port sorts them. */
async function readDay(query: { readonly day: string; readonly company_id: string | undefined }): Promise<ReadDay> {
  let head: DaysJson | undefined
  const ask = async (page: Parameters<typeof api.days>[0]) => {
    const answer = await api.days({ ...page, ...query })
    head ??= answer
    return answer
  }
  const sheets = await allOf(ask, MOST_ROUTES)
  const { results: _results, next_page_token: _token, ...day } = head as unknown as DaysJson
  return { ...day, sheets, readAt: Date.now() }
}

/** Saves the day as CSV, with all routes. */
async function saveCsv(query: { readonly day: string; readonly company_id: string | undefined }): Promise<void> {
  try {
    const url = URL.createObjectURL(await api.daysCsv(query))
    const link = document.createElement('a')
    link.href = url
    link.download = `day-${query.day}${query.company_id === undefined ? '' : `-${query.company_id}`}.csv`
    link.click()
    setTimeout(() => URL.revokeObjectURL(url), REVOKE_MS)
  } catch (error) {
    toast(messageOf(error), 'failed')
  }
}

function keyOf({ company_id, courier_id, route_id }: DaySheetJson): string {
  return `${company_id} ${courier_id} ${route_id}`
}

const MOST_DAYS = 31
const MOST_ROUTES = 20_000
const STEP = 100
const RELOAD_MS = 60_000
const REVOKE_MS = 60_000
