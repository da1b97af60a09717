import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { zone } from '../../data/clock.ts'
import { clockText, type LocalDay } from '../../data/day.ts'
import type { DayStay, VanOfDay } from '../../data/day-plan.ts'
import { useNow } from '../../data/hooks.ts'
import { nameOf } from '../../data/van.ts'
import { ConditionDot, Foreign } from '../../parts/basics.tsx'
import { Icon } from '../../parts/icon.tsx'
import { useWindow } from '../../parts/window.ts'
import { href } from '../../router.ts'
import { words } from '../../words/index.ts'
import { AssignButton } from './assign-button.tsx'
import { useDrag } from './drag.ts'
import { type VanSwap, ExchangeDialog } from './exchange-dialog.tsx'
import { SwapDialog } from './swap-dialog.tsx'

/** A bar and its van. */
interface BarOfDay {
  readonly of: VanOfDay
  readonly stay: DayStay
}

interface TimelineProps {
  /** The vans that match the search; `plan` has all vans. */
  readonly shown: readonly VanOfDay[]
  readonly plan: readonly VanOfDay[]
  readonly day: LocalDay
  readonly changed: () => void
}

/**
 * A row for each van, a bar for each route that it has; rows out of view are not drawn. A bar that is dragged onto that of another
 * van, or its row, lets the two vans swap.
 */
export function Timeline({ shown, plan, day, changed }: TimelineProps): JSX.Element {
  const now = useNow(15_000)
  const [swapped, setSwapped] = useState<BarOfDay>()
  const [exchange, setExchange] = useState<VanSwap>()
  const { box, first, last, onScroll } = useWindow(shown.length, ROW_PX)
  const partnerOf = (item: BarOfDay, onto: string | undefined): VanSwap | undefined => {
    const [id, from] = JSON.parse(onto ?? '[]') as [id?: string, from?: number]
    const other = plan.find(({ van }) => van.id === id)
    if (!other || id === item.of.van.id || other.van.company_id !== item.of.van.company_id) return undefined
    return {
      of: item.of,
      other,
      began: item.stay.from,
      stays: [item.stay, ...other.stays.filter((stay) => stay.from === from)],
    }
  }
  const { dragged, take } = useDrag<BarOfDay>({
    box: () => box.current,
    drop: (item, onto) => setExchange(partnerOf(item, onto)),
  })
  const target = dragged && partnerOf(dragged.item, dragged.onto)
  const closed = (isChanged: boolean) => {
    setSwapped(undefined)
    setExchange(undefined)
    if (isChanged) changed()
  }
  const isToday = now >= day.from && now < day.until
  useEffect(() => scrollTo(box.current, isToday ? shareOf(now, day) : NOON), [day.day])
  return (
    <div
      class={`panel timeline ${dragged ? 'is-dragging' : ''}`}
      ref={box}
      onScroll={onScroll}
      tabIndex={0}
      role="region"
      aria-label={words.roster.timeline}
    >
      <div class="timeline-in">
        <Hours day={day} now={isToday ? now : undefined} />
        <ul class="timeline-rows" style={{ height: `${shown.length * ROW_PX}px` }}>
          {shown.slice(first, last).map((of, index) => (
            <li
              key={of.van.id}
              class={`timeline-row ${target?.other.van.id === of.van.id ? 'is-target' : ''}`}
              data-drop={JSON.stringify([of.van.id])}
              style={{ top: `${(first + index) * ROW_PX}px` }}
            >
              <RowName of={of} />
              <div class="timeline-track">
                {of.stays.map((stay, place) => (
                  <StayBar
                    key={place}
                    stay={stay}
                    {...{ of, day, now }}
                    isTarget={target?.other.van.id === of.van.id && target.stays?.includes(stay) === true}
                    choose={() => setSwapped({ of, stay })}
                    take={stay.until > now ? take({ of, stay }) : undefined}
                  />
                ))}
                {of.stays.length === 0 && <AssignButton van={of.van} changed={changed} />}
              </div>
            </li>
          ))}
        </ul>
        {isToday && <NowLine share={shareOf(now, day)} />}
      </div>
      {dragged && (
        <div class="stay-ghost" aria-hidden="true" style={{ left: `${dragged.x}px`, top: `${dragged.y}px` }}>
          <b class="num">{dragged.item.stay.route_id}</b>
          <Icon name="swap" size={12} />
          {target && <Foreign text={nameOf(target.other.van)} />}
        </div>
      )}
      {swapped && !exchange && <SwapDialog {...swapped} {...{ plan }} exchange={setExchange} close={closed} />}
      {exchange && <ExchangeDialog exchange={exchange} close={closed} />}
    </div>
  )
}

function Hours({ day, now }: { day: LocalDay; now: number | undefined }): JSX.Element {
  const hours = Array.from(
    { length: Math.round((day.until - day.from) / STEP_MS) },
    (_, step) => day.from + step * STEP_MS,
  )
  return (
    <div class="timeline-hours" aria-hidden="true">
      <span class="timeline-corner" />
      <div class="timeline-track">
        {hours
          .filter((hour) => now === undefined || Math.abs(hour - now) > NEAR_MS)
          .map((hour) => (
            <span
              key={hour}
              class={`hour num ${hour === day.from ? 'is-first' : ''}`}
              style={{ left: percent(shareOf(hour, day)) }}
            >
              {clockText(hour, zone())}
            </span>
          ))}
        {now !== undefined && (
          <span class="now-label num" style={{ left: `clamp(19px, ${percent(shareOf(now, day))}, 100% - 19px)` }}>
            {clockText(now, zone())}
          </span>
        )}
      </div>
    </div>
  )
}

function RowName({ of: { van, stays } }: { of: VanOfDay }): JSX.Element {
  return (
    <div class="timeline-name">
      <ConditionDot van={van} text={false} />
      <span class="timeline-van">
        <a href={href('vans', { id: van.id })}>
          <Foreign text={nameOf(van)} />
        </a>
        {stays.length === 0 && <span class="sub">{words.roster.noRoute}</span>}
      </span>
    </div>
  )
}

interface StayBarProps {
  readonly stay: DayStay
  readonly of: VanOfDay
  readonly day: LocalDay
  readonly now: number
  /** Whether another bar would be dropped on it. */
  readonly isTarget: boolean
  readonly choose: () => void
  /** Begins to drag it. */
  readonly take?: (event: PointerEvent) => void
}

function StayBar({ stay, of, day, now, isTarget, choose, take }: StayBarProps): JSX.Element {
  const { from, until, route_id, courier_id, source, sharedWith } = stay
  const when = until <= now ? 'is-past' : from <= now ? 'is-now' : 'is-later'
  const kind = source === undefined ? 'is-usual' : ''
  const times = `${clockText(from, zone())}–${endText(until, day)}`
  const shared = sharedWith.length > 0 ? words.roster.shared(sharedWith.slice(0, 3).join(', ')) : undefined
  const more = [times, source ?? words.roster.usual, shared].filter(Boolean)
  return (
    <button
      type="button"
      class={`stay ${when} ${kind} ${shared ? 'is-shared' : ''} ${until === day.until ? 'goes-on' : ''} ${isTarget ? 'is-target' : ''}`}
      data-drop={JSON.stringify([of.van.id, from])}
      style={{ left: percent(shareOf(from, day)), width: percent(shareOf(until, day) - shareOf(from, day)) }}
      title={[words.vans.onRoute(route_id, courier_id), ...more].join('\n')}
      onClick={choose}
      onPointerDown={take}
    >
      <span class="stay-label">
        {shared && <Icon name="warning" size={12} />}
        <span class="sr-only">{nameOf(of.van)}: </span>
        <span class="stay-route num">{route_id}</span>{' '}
        <span class="stay-courier num">{words.vans.courier(courier_id)}</span>
        <span class="sr-only"> {more.join(', ')}</span>
      </span>
      <span class="stay-swap">
        <Icon name="swap" size={12} />
      </span>
    </button>
  )
}

/** The end of a day that begins at midnight is 24:00. */
function endText(until: number, day: LocalDay): string {
  const text = clockText(until, zone())
  return until === day.until && text === '00:00' ? '24:00' : text
}

function NowLine({ share }: { share: number }): JSX.Element {
  return (
    <div class="now-lane" aria-hidden="true">
      <span class="now-line" style={{ left: percent(share) }} />
    </div>
  )
}

/** Centres this part of the day, if the box is too narrow for all of it. */
function scrollTo(box: HTMLElement | null, share: number): void {
  if (box) box.scrollLeft = share * box.scrollWidth - box.clientWidth / 2
}

function shareOf(ms: number, { from, until }: LocalDay): number {
  return (ms - from) / (until - from)
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`
}

const ROW_PX = 40
const STEP_MS = 2 * 3_600_000
const NEAR_MS = 65 * 60_000
const NOON = 0.5
