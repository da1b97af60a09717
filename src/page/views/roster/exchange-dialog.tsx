import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { AssignedJson } from '../../../admin/schemas/roster.ts'
import { api } from '../../data/api.ts'
import { zone } from '../../data/clock.ts'
import { clockText, dayAt, instantIn } from '../../data/day.ts'
import { useAsked } from '../../data/hooks.ts'
import type { DayStay, VanOfDay } from '../../data/day-plan.ts'
import { nameOf } from '../../data/van.ts'
import { Failure, Foreign, Loading } from '../../parts/basics.tsx'
import { ChangeButton } from '../../parts/change-button.tsx'
import { Dialog, Field } from '../../parts/dialog.tsx'
import { doneText, RedeliverChoice, redeliverQuery } from '../../parts/redeliver-choice.tsx'
import { toast } from '../../parts/toast.tsx'
import { useWork } from '../../parts/work.ts'
import { words } from '../../words/index.ts'

/** Two vans that exchange their routes. */
export interface VanSwap {
  readonly of: VanOfDay
  readonly other: VanOfDay
  /** When the route of `of` began, ms UTC. */
  readonly began: number
  /** The bars whose times count. Without: from now on, or from `from`, until the end of the day. */
  readonly stays?: readonly DayStay[]
  /** ms UTC */
  readonly from?: number
  /** The typed time from which they swap: local, as `2026-11-22T10:00`. */
  readonly typed?: string
}

/** Shows the effect of a swap of two vans, then does it, in one step. */
export function ExchangeDialog({
  exchange,
  close,
}: {
  exchange: VanSwap
  close: (isChanged: boolean) => void
}): JSX.Element {
  const { of, other, began } = exchange
  const { isBusy, failure, run } = useWork()
  const [isRedelivered, setRedelivered] = useState(true)
  const [typed, setTyped] = useState(exchange.typed ?? '')
  // Fixed when the dialog opens, so that the shown times are the ones used.
  const [bounds] = useState(() => boundsOf(exchange, Date.now()))
  const from_at = typed === '' ? bounds.from_at : new Date(instantIn(typed, zone())).toISOString()
  const body = { with: other.van.id, ...bounds, from_at }
  const { answer: effect, error } = useAsked(`swap ${of.van.id} ${other.van.id} ${from_at}`, () =>
    api.swap(of.van.id, body, { dry_run: true }),
  )
  const isLoss = (effect?.takes.length ?? 0) > 0
  const submit = async () => {
    const asked = redeliverQuery(effect?.redeliver, isRedelivered)
    const done = await api.swap(of.van.id, body, { ...(isLoss && { force: true }), ...asked })
    toast(doneText(done.text, effect?.redeliver && done.redeliver, isRedelivered))
    close(true)
  }
  return (
    <Dialog
      title={words.roster.exchangeTitle(nameOf(of.van), nameOf(other.van))}
      hint={words.roster.exchangeHint}
      close={() => close(false)}
      submit={() => effect && void run(submit)}
      actions={
        <ChangeButton type="submit" class={`button ${isLoss ? 'danger' : 'primary'}`} disabled={!effect || isBusy}>
          {isLoss ? words.roster.swapAnyway : words.roster.exchange}
        </ChangeButton>
      }
    >
      {bounds.from_at === undefined && (
        <Field
          type="datetime-local"
          label={words.redeliver.from}
          value={typed}
          change={setTyped}
          hint={words.redeliver.fromHint}
        />
      )}
      {bounds.from_at === undefined && typed === '' && (
        <button
          type="button"
          class="button small"
          onClick={() => setTyped(`${dayAt(began, zone())}T${clockText(began, zone())}`)}
        >
          {words.roster.exchangeSince(clockText(began, zone()))}
        </button>
      )}
      {effect ? <Effect effect={effect} /> : !error && <Loading lines={2} />}
      <RedeliverChoice redeliver={effect?.redeliver} isWanted={isRedelivered} want={setRedelivered} />
      <Failure error={failure ?? error} />
    </Dialog>
  )
}

/** The effect of an assignment, and warnings about it. */
export function Effect({ effect: { text, warnings, takes } }: { effect: AssignedJson }): JSX.Element {
  const isPlain = warnings.length === 0 && takes.length === 0
  return (
    <div class={`plan ${isPlain ? '' : 'is-warning'}`} role="status">
      <p>
        <Foreign text={text} />
      </p>
      {warnings.map((warning, index) => (
        <p key={index} class="tone-warning">
          <Foreign text={warning} />
        </p>
      ))}
    </div>
  )
}

/** A route that has begun changes hands now. */
function boundsOf({ stays = [], from = 0 }: VanSwap, now: number) {
  const ahead = stays.filter(({ until }) => until > now)
  const begin = ahead.length > 0 ? Math.min(...ahead.map((stay) => stay.from)) : from
  const end = Math.max(...ahead.map(({ until }) => until))
  return {
    from_at: begin <= now ? undefined : new Date(begin).toISOString(),
    until_at: ahead.length > 0 ? new Date(end).toISOString() : undefined,
  }
}
