import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ParkedLaneJson } from '../../../admin/schemas/lanes.ts'
import { allOf, api } from '../../data/api.ts'
import { useAsked, useLive, useNow } from '../../data/hooks.ts'
import { age, exact } from '../../format.ts'
import { Empty, FailureNote, Foreign, Panel, When } from '../../parts/basics.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ChangeButton } from '../../parts/change-button.tsx'
import { useToastedWork } from '../../parts/work.ts'
import { words } from '../../words/index.ts'

type Which = { readonly courier_id: string; readonly route_id: string } | { readonly all: true }

/** Positions that the tracking API has refused, with its answer; they can be retried or deleted. */
export function ParkedPanel(): JSX.Element {
  const [most, setMost] = useState(STEP)
  const ask = () => allOf((page) => api.parked(page), most)
  const { answer: lanes, error, again } = useAsked('parked', ask, RELOAD_MS)
  const { status } = useLive()
  const [deleting, setDeleting] = useState<{ which: Which; fixes: number }>()
  const { isBusy, run } = useToastedWork()
  const change = (done: Promise<string>) => void run(() => done).then(again)
  const retry = (which: Which) =>
    change(api.retryParked(which).then(({ retried }) => words.act.retried(retried, exact(retried))))
  const remove = (which: Which) => {
    setDeleting(undefined)
    change(api.deleteParked(which).then(({ deleted }) => words.queues.deleted(deleted, exact(deleted))))
  }
  const isAll = lanes !== undefined && lanes.length < most
  const listed = lanes?.reduce((sum, lane) => sum + lane.fixes, 0) ?? 0
  const fixes = isAll ? listed : Math.max(listed, status?.parked?.fixes ?? 0)
  const aside = lanes && lanes.length > 1 && (
    <span class="buttons">
      <ChangeButton type="button" class="button small" disabled={isBusy} onClick={() => retry({ all: true })}>
        {words.queues.retryAll}
      </ChangeButton>
      <ChangeButton
        type="button"
        class="button small danger"
        disabled={isBusy}
        onClick={() => setDeleting({ which: { all: true }, fixes })}
      >
        {words.queues.deleteAll}
      </ChangeButton>
    </span>
  )
  return (
    <Panel
      title={words.queues.parked}
      hint={lanes && fixes > 0 ? words.fixes(fixes, exact(fixes)) : undefined}
      aside={aside}
    >
      {error && !lanes && <FailureNote error={error} again={again} />}
      {lanes?.length === 0 && <Empty icon="ok" title={words.queues.noParked} text={words.queues.noParkedText} />}
      <ul class="parked-lanes">
        {lanes?.map((lane) => (
          <ParkedLane
            key={`${lane.courier_id}/${lane.route_id}`}
            lane={lane}
            isBusy={isBusy}
            retry={() => retry(whichOf(lane))}
            remove={() => setDeleting({ which: whichOf(lane), fixes: lane.fixes })}
          />
        ))}
      </ul>
      {lanes && !isAll && (
        <div class="findings-more">
          <button type="button" class="button quiet" onClick={() => (setMost(most + STEP), again())}>
            {words.more}
          </button>
        </div>
      )}
      {deleting && (
        <Dialog
          title={words.queues.deleteTitle(words.fixes(deleting.fixes, exact(deleting.fixes)))}
          close={() => setDeleting(undefined)}
          submit={() => remove(deleting.which)}
          actions={
            <button type="submit" class="button danger">
              {words.queues.delete}
            </button>
          }
        >
          <p>{words.queues.deleteText}</p>
        </Dialog>
      )}
    </Panel>
  )
}

interface ParkedLaneProps {
  readonly lane: ParkedLaneJson
  readonly isBusy: boolean
  readonly retry: () => void
  readonly remove: () => void
}

function ParkedLane({ lane, isBusy, retry, remove }: ParkedLaneProps): JSX.Element {
  const now = useNow(5000)
  const { courier_id, route_id, fixes, parked, refused } = lane
  return (
    <li class="parked-lane">
      <div>
        <p class="finding-message">
          {words.vans.onRoute(route_id, courier_id)}{' '}
          <span class="badge warning">{words.fixes(fixes, exact(fixes))}</span>
        </p>
        {parked && (
          <p class="parked-reason">
            <span class="tag is-error num">{parked.status}</span> <Foreign text={parked.message} />{' '}
            <span class="muted">
              {words.queues.tries(parked.tries, exact(parked.tries))}
              {parked.next_try_at && (
                <>
                  {' · '}
                  {words.queues.nextTry} <When at={parked.next_try_at} />
                </>
              )}
            </span>
          </p>
        )}
        {refused.map(({ status, message, at, count: times }) => (
          <p key={`${status} ${message}`} class="parked-reason">
            <span class="tag is-error num">{status}</span> <Foreign text={message} />{' '}
            <span class="muted num">
              {words.now.count(exact(times))} · {age(at, now)}
            </span>
          </p>
        ))}
      </div>
      <span class="buttons">
        <ChangeButton type="button" class="button" disabled={isBusy} onClick={retry}>
          {words.retry}
        </ChangeButton>
        <ChangeButton type="button" class="button danger" disabled={isBusy} onClick={remove}>
          {words.queues.delete}
        </ChangeButton>
      </span>
    </li>
  )
}

function whichOf({ courier_id, route_id }: ParkedLaneJson): Which {
  return { courier_id, route_id }
}

const STEP = 100
const RELOAD_MS = 5000
