import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { DeviceRowJson } from '../../../admin/schemas/devices.ts'
import { useNow } from '../../data/hooks.ts'
import { CONDITIONS, conditionOf, nameOf, speedOf, unseenSince } from '../../data/van.ts'
import { capital, collator, duration, fullTime, speed } from '../../format.ts'
import { ConditionDot, Empty, Foreign } from '../../parts/basics.tsx'
import { useWindow } from '../../parts/window.ts'
import { href } from '../../router.ts'
import { words } from '../../words/index.ts'

type Column = 'name' | 'condition' | 'seen' | 'problem' | 'speed' | 'route' | 'place'

const COLUMNS: readonly Column[] = ['name', 'condition', 'seen', 'problem', 'speed', 'route', 'place']
const ROW_PX = 44

interface VanTableProps {
  readonly vans: readonly DeviceRowJson[]
  readonly chosen?: string
  /** Whether the van that was not seen for longest is on top; otherwise they are sorted by name. */
  readonly isByUnseen: boolean
}

/** The vans as rows, of which only the visible ones are drawn. */
export function VanTable({ vans, chosen, isByUnseen }: VanTableProps): JSX.Element {
  const [order, setOrder] = useState<{ by: Column; isDown: boolean }>({
    by: isByUnseen ? 'seen' : 'name',
    isDown: isByUnseen,
  })
  const sorted = useMemo(() => sortedBy(vans, order.by, order.isDown), [vans, order])
  const { box, first, last, onScroll } = useWindow(sorted.length, ROW_PX)
  const now = useNow(5000)
  if (vans.length === 0)
    return (
      <div class="panel">
        <Empty icon="search" title={words.vans.noneFound} text={words.vans.noneFoundText} />
      </div>
    )
  return (
    <div class="panel table-box" ref={box} onScroll={onScroll} tabIndex={0} role="region" aria-label={words.nav.vans}>
      <table class="table van-table" aria-rowcount={sorted.length + 1}>
        <thead>
          <tr>
            {COLUMNS.map((column) => (
              <th
                key={column}
                class={`col-${column}`}
                aria-sort={order.by === column ? (order.isDown ? 'descending' : 'ascending') : 'none'}
              >
                <button
                  type="button"
                  onClick={() => setOrder({ by: column, isDown: order.by === column && !order.isDown })}
                >
                  {words.vans.column[column]}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr class="spacer" aria-hidden="true" style={{ height: `${first * ROW_PX}px` }} />}
          {sorted.slice(first, last).map((van, index) => (
            <Row key={van.id} van={van} now={now} index={first + index + 2} isChosen={van.id === chosen} />
          ))}
          {last < sorted.length && (
            <tr class="spacer" aria-hidden="true" style={{ height: `${(sorted.length - last) * ROW_PX}px` }} />
          )}
        </tbody>
      </table>
    </div>
  )
}

function Row({
  van,
  now,
  index,
  isChosen,
}: {
  van: DeviceRowJson
  now: number
  index: number
  isChosen: boolean
}): JSX.Element {
  const at = unseenSince(van)
  const kmh = speedOf(van)
  const { problem } = van
  return (
    <tr aria-rowindex={index} class={`${isChosen ? 'is-chosen' : ''} ${problem ? 'has-problem' : ''}`}>
      <td class="col-name">
        <a class={`row-link ${van.name === undefined ? 'mono' : ''}`} href={href('vans', { id: van.id })}>
          <Foreign text={nameOf(van)} />
        </a>
        {van.name !== undefined && <span class="sub mono van-id">{van.id}</span>}
      </td>
      <td class="col-condition">
        <ConditionDot van={van} />
      </td>
      <td class="col-seen num" title={at === undefined ? undefined : fullTime(at)}>
        {at === undefined ? words.never : words.ago(duration(now - at))}
      </td>
      <td class="col-problem" title={problem && `${capital(problem.message)}. ${capital(problem.action)}.`}>
        {problem && <span class={`problem-text tone-${problem.severity}`}>{capital(problem.message)}</span>}
      </td>
      <td class="col-speed num">{kmh === undefined ? '' : speed(kmh)}</td>
      <td class="col-route num">
        {van.lane ? (
          <>
            <span>{van.lane.route_id}</span>
            <span class="sub">{words.vans.courier(van.lane.courier_id)}</span>
          </>
        ) : (
          <span class="muted">–</span>
        )}
      </td>
      <td class="col-place" title={van.place}>
        {van.place}
      </td>
    </tr>
  )
}

function sortedBy(vans: readonly DeviceRowJson[], by: Column, isDown: boolean): DeviceRowJson[] {
  const compare: Record<Column, (one: DeviceRowJson, other: DeviceRowJson) => number> = {
    name: byName,
    condition: (one, other) => CONDITIONS.indexOf(conditionOf(one)) - CONDITIONS.indexOf(conditionOf(other)),
    seen: (one, other) => (unseenSince(other) ?? 0) - (unseenSince(one) ?? 0),
    problem: (one, other) =>
      problemRank(one) - problemRank(other) || (unseenSince(one) ?? 0) - (unseenSince(other) ?? 0),
    speed: (one, other) => (speedOf(other) ?? -1) - (speedOf(one) ?? -1),
    route: (one, other) => collator.compare(one.lane?.route_id ?? '~', other.lane?.route_id ?? '~'),
    place: (one, other) => collator.compare(one.place ?? '~', other.place ?? '~'),
  }
  const sign = isDown ? -1 : 1
  return vans.toSorted((one, other) => sign * compare[by](one, other) || byName(one, other))
}

function problemRank({ problem }: DeviceRowJson): number {
  return problem ? ['error', 'warning', 'info'].indexOf(problem.severity) : 3
}

function byName(one: DeviceRowJson, other: DeviceRowJson): number {
  return collator.compare(nameOf(one), nameOf(other))
}
