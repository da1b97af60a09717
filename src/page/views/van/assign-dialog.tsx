import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { DeviceJson } from '../../../admin/schemas/devices.ts'
import type { AssignedJson } from '../../../admin/schemas/roster.ts'
import { api, evenIfRefused, type Tried } from '../../data/api.ts'
import { zone } from '../../data/clock.ts'
import { instantIn } from '../../data/day.ts'
import { useFleet } from '../../data/hooks.ts'
import { nameOf } from '../../data/van.ts'
import { time } from '../../format.ts'
import { Failure, Foreign } from '../../parts/basics.tsx'
import { Dialog, Field } from '../../parts/dialog.tsx'
import { doneText, RedeliverChoice, redeliverQuery } from '../../parts/redeliver-choice.tsx'
import { Segments } from '../../parts/segments.tsx'
import { toast } from '../../parts/toast.tsx'
import { useWork } from '../../parts/work.ts'
import { words } from '../../words/index.ts'

type Kind = 'route' | 'like' | 'end'

interface AssignDialogProps {
  readonly detail: DeviceJson
  readonly close: (isChanged: boolean) => void
}

/** Gives a van a route, lets it take over another van's, or ends its route, after showing the effect. */
export function AssignDialog({ detail, close }: AssignDialogProps): JSX.Element {
  const others = useFleet().vans.filter(({ id, configured }) => configured && id !== detail.id)
  const [kind, setKind] = useState<Kind>('route')
  const [{ route, courier, like, from, until }, setTyped] = useState({
    route: '',
    courier: '',
    like: '',
    from: '',
    until: '',
  })
  const [plan, setPlan] = useState<Tried<AssignedJson>>()
  const { isBusy, failure, run } = useWork()
  const [isRedelivered, setRedelivered] = useState(true)
  const type = (name: string) => (text: string) => {
    setTyped((before) => ({ ...before, [name]: text }))
    setPlan(undefined)
  }
  const send = async (isDry: boolean) => {
    const bounds = { from_at: instantOf(from), until_at: kind === 'end' ? undefined : instantOf(until) }
    const body =
      kind === 'route'
        ? { route_id: route, courier_id: courier || undefined, ...bounds }
        : kind === 'like'
          ? { like, from_at: bounds.from_at }
          : { from_at: bounds.from_at }
    const query = isDry
      ? { dry_run: true }
      : { force: (plan?.takes.length ?? 0) > 0 || undefined, ...redeliverQuery(plan?.redeliver, isRedelivered) }
    const change = kind === 'end' ? api.unassign(detail.id, body, query) : api.assign(detail.id, body, query)
    const answer = await evenIfRefused(change, 'takes')
    // If it would take a route from others, the answer has the plan.
    if (isDry || answer.message !== undefined) return setPlan(answer)
    toast(doneText(answer.text, plan?.redeliver && answer.redeliver, isRedelivered))
    return close(true)
  }
  const isGiven = kind === 'end' || (kind === 'route' ? route.trim() !== '' : like.trim() !== '')
  return (
    <Dialog
      title={words.van.assignTitle(nameOf(detail))}
      close={() => close(false)}
      submit={() => void run(() => send(plan === undefined))}
      actions={
        <button
          type="submit"
          class={`button ${plan?.takes.length ? 'danger' : 'primary'}`}
          disabled={!isGiven || isBusy}
        >
          {plan === undefined ? words.van.preview : plan.takes.length > 0 ? words.van.takeAnyway : words.apply}
        </button>
      }
    >
      <Segments
        label={words.van.assign}
        value={kind}
        choices={(detail.lane ? (['route', 'like', 'end'] as const) : (['route', 'like'] as const)).map((value) => ({
          value,
          text: words.van.assignBy[value],
        }))}
        choose={(value) => {
          setKind(value)
          setPlan(undefined)
        }}
      />
      {kind === 'route' && (
        <div class="field-pair">
          <Field label={words.van.field.route_id} value={route} change={type('route')} required />
          <Field
            label={words.van.field.courier_id}
            value={courier}
            change={type('courier')}
            placeholder={detail.courier_id}
            hint={words.van.courierHint}
          />
        </div>
      )}
      {kind === 'like' && (
        <Field
          label={words.van.like}
          value={like}
          change={type('like')}
          choices={others.map(nameOf)}
          hint={words.van.likeHint}
          required
        />
      )}
      <div class="field-pair">
        <Field
          type="datetime-local"
          label={words.van.from}
          value={from}
          change={type('from')}
          hint={words.van.fromHint}
        />
        {kind === 'route' && (
          <Field
            type="datetime-local"
            label={words.van.untilLabel}
            value={until}
            change={type('until')}
            hint={words.van.untilHint}
          />
        )}
      </div>
      {plan && <AssignmentPlan plan={plan} />}
      <RedeliverChoice redeliver={plan?.redeliver} isWanted={isRedelivered} want={setRedelivered} />
      <Failure error={failure} />
    </Dialog>
  )
}

function AssignmentPlan({ plan: { text, takes, warnings, message } }: { plan: Tried<AssignedJson> }): JSX.Element {
  return (
    <div class={`plan ${takes.length > 0 ? 'is-warning' : ''}`} role="status">
      <p>
        <Foreign text={text || message || ''} />
      </p>
      {takes.length > 0 && (
        <ul>
          {takes.map(({ device, name, route_id, from_at, until_at }) => (
            <li key={`${device} ${from_at}`}>
              {words.van.takes(name ?? device, route_id, bound(from_at), bound(until_at))}
            </li>
          ))}
        </ul>
      )}
      {warnings.map((warning, index) => (
        <p key={index} class="tone-warning">
          {warning}
        </p>
      ))}
    </div>
  )
}

/** `…`: without a bound. */
function bound(at: string | undefined): string {
  return at === undefined ? '…' : time(at)
}

/** Returns the value of a time field, by the clock of the page, as an instant. */
function instantOf(local: string): string | undefined {
  return local ? new Date(instantIn(local, zone())).toISOString() : undefined
}
