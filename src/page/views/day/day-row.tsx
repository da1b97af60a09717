import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { DaySheetJson } from '../../../admin/schemas/days.ts'
import { exact, shareText } from '../../format.ts'
import { Foreign } from '../../parts/basics.tsx'
import { DayStrip, rangeText, type StripGap, type TimeSpan, withoutGaps } from '../../parts/day-strip.tsx'
import { Icon } from '../../parts/icon.tsx'
import { href } from '../../router.ts'
import { words } from '../../words/index.ts'

interface DayRowProps {
  readonly sheet: DaySheetJson
  readonly day: TimeSpan & { readonly as_of_at: string }
  /** Of vans, by id. */
  readonly names: ReadonlyMap<string, string>
}

/** A route of a day: its figures, its day as a strip, and its gaps once they are asked for. */
export function DayRow({ sheet, day, names }: DayRowProps): JSX.Element {
  const { route_id, courier_id, share, planned, planned_min, covered_min, gaps, devices } = sheet
  const [isOpen, setOpen] = useState(false)
  const [marked, mark] = useState<string>()
  const notes = notesOf(sheet)
  const choose = ({ from_at }: StripGap) => {
    setOpen(true)
    mark(from_at)
  }
  const isKnown = share !== null
  const late = sheet.start_delay_min
  return (
    <tbody class={`day-sheet ${isOpen ? 'is-open' : ''}`}>
      <tr>
        <th scope="row">
          <Foreign text={route_id} />
          <span class="sub">{words.vans.courier(courier_id)}</span>
        </th>
        <td class={`is-number day-share is-${toneOf(share)}`}>{isKnown ? shareText(share) : words.day.noShare}</td>
        <td class="day-strip-cell">
          <DayStrip
            day={day}
            present={withoutGaps(planned, gaps, day.as_of_at)}
            gaps={gaps}
            line={{ name: 'planned', spans: planned }}
            choose={choose}
          />
          <p class="day-notes">
            {gaps.length > 0 ? (
              <button
                type="button"
                class="day-gaps-button"
                aria-expanded={isOpen}
                onClick={() => {
                  setOpen(!isOpen)
                  mark(undefined)
                }}
              >
                <Icon name="chevron" size={12} />
                {words.day.gaps(gaps.length, exact(gaps.length))}
              </button>
            ) : (
              isKnown && <span class="muted">{words.day.noGaps}</span>
            )}
            <span class="print-only">{reasonsText(sheet)}</span>
            {notes.map(({ text, tone }) => (
              <span key={text} class={`day-note is-${tone}`}>
                {text}
              </span>
            ))}
          </p>
        </td>
        <td class="is-number" data-name={words.day.column.covered}>
          {isKnown ? words.day.coveredOf(exact(covered_min), exact(planned_min)) : '–'}
        </td>
        <td class="is-number" data-name={words.day.column.start}>
          {late === null ? '–' : words.day.minutes(exact(late))}
        </td>
        <td class="is-number" data-name={words.day.column.longest}>
          {isKnown ? words.day.minutes(exact(sheet.longest_gap_min)) : '–'}
        </td>
        <td class="day-vans">
          {devices.map((id) => (
            <VanLink key={id} id={id} day={sheet.day} names={names} />
          ))}
        </td>
      </tr>
      {isOpen && (
        <tr class="day-gap-row">
          <td colSpan={7}>
            <ul class="day-gap-list" aria-label={words.day.gapsOf(route_id)}>
              {gaps.map((gap) => (
                <li key={gap.from_at} class={gap.from_at === marked ? 'is-marked' : ''}>
                  <span class={`swatch g-${gap.reason}`} />
                  <span class="num">{rangeText(gap)}</span>
                  <span class="muted num">{words.day.minutes(exact(gap.min))}</span>
                  <span>
                    <b>{words.van.gap[gap.reason] ?? gap.reason}</b> {words.van.gapMeans[gap.reason] ?? gap.message}
                  </span>
                  <VanLink id={gap.device} day={sheet.day} names={names} />
                </li>
              ))}
            </ul>
          </td>
        </tr>
      )}
    </tbody>
  )
}

/** Leads to the day of a van. */
function VanLink({ id, day, names }: { id: string; day: string } & Pick<DayRowProps, 'names'>): JSX.Element {
  return (
    <a href={href('vans', { id, query: { day } })}>
      <Foreign text={names.get(id) ?? id} />
    </a>
  )
}

/** Returns further remarks about a route: late, corrected, read back. */
function notesOf({ late_fixes, redelivered, verified }: DaySheetJson) {
  const notes: { readonly text: string; readonly tone: 'plain' | 'ok' | 'error' }[] = []
  if (redelivered > 0) notes.push({ text: words.day.redelivered(redelivered, exact(redelivered)), tone: 'plain' })
  if (late_fixes > 0) notes.push({ text: words.day.lateFixes(late_fixes, exact(late_fixes)), tone: 'plain' })
  const { checked = 0, missing = 0 } = verified ?? {}
  if (missing > 0) notes.push({ text: words.day.missing(exact(missing), exact(checked)), tone: 'error' })
  else if (checked > 0) notes.push({ text: words.day.checked(checked, exact(checked)), tone: 'ok' })
  return notes
}

/** `Not heard 42 min, Parked 10 min`, most first. */
function reasonsText({ by_reason }: DaySheetJson): string {
  return Object.entries(by_reason)
    .toSorted(([, one], [, other]) => other - one)
    .map(([reason, min]) => `${words.van.gap[reason] ?? reason} ${words.day.minutes(exact(min))}`)
    .join(', ')
}

function toneOf(share: number | null): string {
  if (share === null) return 'none'
  return share === 1 ? 'ok' : share < MUCH_MISSING ? 'error' : 'warning'
}

const MUCH_MISSING = 0.8
