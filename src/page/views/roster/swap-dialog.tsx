import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { AssignedJson } from '../../../admin/schemas/roster.ts'
import { api, evenIfRefused } from '../../data/api.ts'
import { zone } from '../../data/clock.ts'
import { clockText, instantIn } from '../../data/day.ts'
import { type DayStay, isBusyFrom, type VanOfDay } from '../../data/day-plan.ts'
import { useNow } from '../../data/hooks.ts'
import { conditionOf, matches, nameOf } from '../../data/van.ts'
import { exact } from '../../format.ts'
import { ConditionDot, Failure, Foreign } from '../../parts/basics.tsx'
import { ChangeButton } from '../../parts/change-button.tsx'
import { Dialog, Field } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { doneText, RedeliverChoice, redeliverQuery } from '../../parts/redeliver-choice.tsx'
import { Segments } from '../../parts/segments.tsx'
import { toast } from '../../parts/toast.tsx'
import { useWork } from '../../parts/work.ts'
import { href } from '../../router.ts'
import { words } from '../../words/index.ts'
import { Effect, type VanSwap } from './exchange-dialog.tsx'

interface SwapDialogProps {
  /** The van that loses its route. */
  readonly of: VanOfDay
  readonly stay: DayStay
  readonly plan: readonly VanOfDay[]
  readonly exchange: (exchange: VanSwap) => void
  readonly close: (isChanged: boolean) => void
}

/**
 * Asks which van takes over a van's routes, or swaps with it. A click on a van without a route does it; if that has further
 * effects, they are shown first and a second click does it.
 */
export function SwapDialog({ of, stay, plan, exchange, close }: SwapDialogProps): JSX.Element {
  const now = useNow(15_000)
  const [q, setQ] = useState('')
  const [kind, setKind] = useState<'take' | 'exchange'>('take')
  const [asked, setAsked] = useState<{ other: VanOfDay; effect: AssignedJson; from?: string }>()
  const { isBusy, failure, run } = useWork()
  const [typed, setTyped] = useState('')
  const [isRedelivered, setRedelivered] = useState(true)
  const isRunning = stay.from <= now
  // A route that has begun changes hands now, or at the typed time.
  const typedAt = typed === '' ? undefined : instantIn(typed, zone())
  const begin = isRunning ? (typedAt ?? now) : stay.from
  const from = isRunning && typedAt === undefined ? undefined : new Date(begin).toISOString()
  const name = nameOf(of.van)
  const others = candidates({ of, plan, begin, q })
  // Nobody loses anything but the van that is meant.
  const isPlain = asked !== undefined && isExpected(asked.effect, of)
  // A swap is shown first, for whoever may only read, too.
  const Choice = kind === 'take' ? ChangeButton : 'button'

  const takeOver = async ({ van }: VanOfDay) => {
    const query = { force: true, ...redeliverQuery(asked?.effect.redeliver, isRedelivered) }
    const done = await api.assign(van.id, { like: of.van.id, from_at: asked ? asked.from : from }, query)
    toast(doneText(done.text, asked?.effect.redeliver && done.redeliver, isRedelivered))
    close(true)
  }
  const choose = (other: VanOfDay) => {
    if (kind === 'exchange')
      return exchange({ of, other, began: stay.from, from: begin, typed: isRunning ? typed : undefined })
    return void run(async () => {
      // Taking a route from others is the purpose here, and no error.
      const trial = api.assign(other.van.id, { like: of.van.id, from_at: from }, { dry_run: true })
      const effect = await evenIfRefused(trial, 'takes')
      const isOffered = (effect.redeliver?.fixes ?? 0) > 0
      if (isExpected(effect, of) && !isOffered) return takeOver(other)
      return setAsked({ other, effect, from })
    })
  }
  return (
    <Dialog
      title={words.roster.swapTitle(name)}
      hint={words.roster.swapHint(
        name,
        stay.route_id,
        from === undefined ? words.roster.now : clockText(begin, zone()),
      )}
      close={() => close(false)}
      submit={() => asked && void run(() => takeOver(asked.other))}
      actions={
        asked ? (
          <button type="submit" class={`button ${isPlain ? 'primary' : 'danger'}`} disabled={isBusy}>
            {isPlain ? words.apply : words.roster.swapAnyway}
          </button>
        ) : (
          <a class="button" href={href('vans', { id: of.van.id })}>
            {words.act.openVan}
          </a>
        )
      }
    >
      {asked ? (
        <>
          <Effect effect={asked.effect} />
          <RedeliverChoice redeliver={asked.effect.redeliver} isWanted={isRedelivered} want={setRedelivered} />
        </>
      ) : (
        <>
          <Segments
            label={words.roster.swapKind.label}
            value={kind}
            choices={(['take', 'exchange'] as const).map((value) => ({ value, text: words.roster.swapKind[value] }))}
            choose={setKind}
          />
          {isRunning && (
            <Field
              type="datetime-local"
              label={words.redeliver.from}
              value={typed}
              change={setTyped}
              hint={words.redeliver.fromHint}
            />
          )}
          <SearchField label={words.roster.swapSearch} value={q} change={setQ} />
          <ul class="swap-list">
            {others.slice(0, MOST_SHOWN).map((other) => (
              <li key={other.van.id}>
                <Choice type="button" class="swap-van" disabled={isBusy} onClick={() => choose(other)}>
                  <ConditionDot van={other.van} text={false} />
                  <span class="swap-name">
                    <Foreign text={nameOf(other.van)} />
                    <span class="sub">{other.van.place ?? words.condition[conditionOf(other.van)]}</span>
                  </span>
                  <span class={`tag ${isBusyFrom(other, begin) ? '' : 'is-ok'}`}>{stateOf(other, begin)}</span>
                  <Icon name="swap" size={14} />
                </Choice>
              </li>
            ))}
          </ul>
          {others.length > MOST_SHOWN && <p class="hint">{words.roster.swapMore(exact(others.length - MOST_SHOWN))}</p>}
          {others.length === 0 && <p class="hint">{words.roster.swapNone}</p>}
        </>
      )}
      <Failure error={failure} />
    </Dialog>
  )
}

/** Returns whether an effect is only the intended one: the swapped van loses its route. */
function isExpected({ takes, warnings }: AssignedJson, { van }: VanOfDay): boolean {
  return warnings.length === 0 && takes.every(({ device }) => device === van.id)
}

interface Candidates {
  readonly of: VanOfDay
  readonly plan: readonly VanOfDay[]
  readonly begin: number
  readonly q: string
}

/** Returns the other vans of the company: first those without a route from then on, and among them those that send. */
function candidates({ of, plan, begin, q }: Candidates): VanOfDay[] {
  const others = plan.filter(
    ({ van }) => van.id !== of.van.id && van.company_id === of.van.company_id && matches(van, q),
  )
  const rank = (other: VanOfDay) => 2 * Number(isBusyFrom(other, begin)) + Number(other.van.state !== 'online')
  return others.toSorted((one, other) => rank(one) - rank(other))
}

function stateOf({ stays }: VanOfDay, begin: number): string {
  const stay =
    stays.findLast(({ from, until }) => until > begin && from <= begin) ?? stays.find(({ until }) => until > begin)
  return stay ? words.roster.hasRoute(stay.route_id) : words.roster.free
}

const MOST_SHOWN = 40
