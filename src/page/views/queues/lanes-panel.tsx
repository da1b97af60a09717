import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { LaneJson } from '../../../admin/schemas/lanes.ts'
import { allOf, api } from '../../data/api.ts'
import { useAsked, useLive, useNow } from '../../data/hooks.ts'
import { age, count, exact, fullTime } from '../../format.ts'
import { Empty, FailureNote, Loading, Panel } from '../../parts/basics.tsx'
import { Segments } from '../../parts/segments.tsx'
import { go, href } from '../../router.ts'
import { words } from '../../words/index.ts'

type Sort = 'waiting' | 'oldest'

/** The lanes in which something waits; those that are parked are in the panel above. */
export function LanesPanel({ sort }: { sort: Sort }): JSX.Element {
  const [most, setMost] = useState(STEP)
  const ask = () => allOf((page) => api.lanes({ ...page, sort }), most)
  const { answer, error, again } = useAsked(`lanes ${sort}`, ask, RELOAD_MS)
  const lanes = answer?.filter(({ parked }) => parked === undefined)
  const hasMore = answer !== undefined && answer.length >= most
  const stored = useLive().status?.waiting
  const now = useNow(5000)
  // One batch or less is a short bar, even if it is the longest.
  const highest = Math.max(SHORT, ...(lanes ?? []).map(({ waiting }) => waiting))
  // The status is of another moment than the list.
  const listed = lanes?.reduce((sum, { waiting }) => sum + waiting, 0) ?? 0
  const waiting = hasMore ? Math.max(listed, stored?.fixes ?? 0) : listed
  const hint = waiting > 0 ? words.fixes(waiting, count(waiting)) : undefined
  return (
    <Panel
      title={words.queues.lanes}
      hint={hint}
      aside={
        <Segments
          label={words.queues.sort}
          value={sort}
          choices={(['waiting', 'oldest'] as const).map((value) => ({ value, text: words.queues.by[value] }))}
          choose={(value) =>
            go(href('queues', { query: { sort: value === 'waiting' ? undefined : value } }), { replace: true })
          }
        />
      }
    >
      {error && !lanes && <FailureNote error={error} again={again} />}
      {!lanes && !error && <Loading lines={4} />}
      {lanes?.length === 0 && !hasMore && (
        <Empty icon="ok" title={words.queues.noLanes} text={words.queues.noLanesText} />
      )}
      {lanes && lanes.length > 0 && (
        <div class="scroll-x" tabIndex={0} role="region" aria-label={words.queues.lanes}>
          <table class="table lanes-table">
            <thead>
              <tr>
                <th>{words.vans.column.route}</th>
                <th>{words.van.courier}</th>
                <th class="wide-only">{words.van.field.company_id}</th>
                <th>{words.custody.waiting}</th>
                <th>{words.queues.oldest}</th>
                <th>{words.queues.lastPush}</th>
              </tr>
            </thead>
            <tbody>
              {lanes.map((lane) => (
                <LaneRow
                  key={`${lane.company_id}/${lane.courier_id}/${lane.route_id}`}
                  lane={lane}
                  highest={highest}
                  now={now}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {hasMore && (
        <div class="findings-more">
          <button type="button" class="button quiet" onClick={() => (setMost(most + STEP), again())}>
            {words.more}
          </button>
        </div>
      )}
    </Panel>
  )
}

function LaneRow({ lane, highest, now }: { lane: LaneJson; highest: number; now: number }): JSX.Element {
  const { company_id, courier_id, route_id, waiting, oldest_at, last_push: push } = lane
  return (
    <tr>
      <td class="num strong">{route_id}</td>
      <td class="num">{courier_id}</td>
      <td class="num wide-only">{company_id}</td>
      <td>
        <span class="bar">
          <span class="num">{exact(waiting)}</span>
          <meter class="sr-only" value={waiting} max={highest} aria-label={words.custody.waiting} />
          <span class="bar-fill" style={{ width: `${(waiting / highest) * 100}%` }} />
        </span>
      </td>
      <td class="num" title={oldest_at && fullTime(oldest_at)}>
        {oldest_at ? age(oldest_at, now) : '–'}
      </td>
      <td>
        {push ? (
          <span class={`tag num ${isFine(push.status) ? 'is-ok' : 'is-error'}`} title={fullTime(push.at)}>
            {push.status}
          </span>
        ) : (
          <span class="muted">–</span>
        )}
      </td>
    </tr>
  )
}

function isFine(status: number | string): boolean {
  return typeof status === 'number' && status < 300
}

const STEP = 100
const SHORT = 500
const RELOAD_MS = 3000
