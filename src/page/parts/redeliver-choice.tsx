import type { JSX } from 'preact'
import type { RedeliverJson } from '../../admin/schemas/roster.ts'
import { capital, exact, time } from '../format.ts'
import { words } from '../words/index.ts'
import { Foreign } from './basics.tsx'

interface RedeliverChoiceProps {
  /** What the dry run of a change reports about positions that are delivered already. */
  readonly redeliver: RedeliverJson | undefined
  readonly isWanted: boolean
  readonly want: (isWanted: boolean) => void
}

/** Offers to redeliver positions that went to another route; nothing if there are none. */
export function RedeliverChoice({ redeliver, isWanted, want }: RedeliverChoiceProps): JSX.Element | null {
  if (!redeliver || redeliver.fixes === 0) return null
  const { fixes, from, to, moves } = redeliver
  const [count, [begin, end]] = [words.fixes(fixes, exact(fixes)), timesOf(redeliver)]
  const isNamed = from !== undefined && to !== undefined
  const [fromText, toText] = isNamed ? namesOf(from, to) : []
  return (
    <div class="redeliver">
      <p>
        {fromText === undefined
          ? words.redeliver.wentElsewhere(fixes, count, begin, end)
          : words.redeliver.went(fixes, count, begin, end, fromText)}
      </p>
      {!isNamed && (
        <ul>
          {moves.slice(0, MOST_SHOWN).map((move) => (
            <li key={`${move.device} ${move.first_at} ${move.from.route_id}`}>
              <Foreign text={move.name ?? move.device} />{' '}
              <span class="num">
                {words.redeliver.move(words.fixes(move.fixes, exact(move.fixes)), ...namesOf(move.from, move.to))}
              </span>
            </li>
          ))}
          {moves.length > MOST_SHOWN && <li class="muted">{words.redeliver.more(exact(moves.length - MOST_SHOWN))}</li>}
        </ul>
      )}
      <label class="check">
        <input type="checkbox" checked={isWanted} onChange={(event) => want(event.currentTarget.checked)} />
        <span>{toText === undefined ? words.redeliver.deliverAll(fixes) : words.redeliver.deliver(fixes, toText)}</span>
      </label>
      <p class="muted">{fromText === undefined ? words.redeliver.allKeep : words.redeliver.keeps(capital(fromText))}</p>
    </div>
  )
}

/** Returns the query of the write: whether delivered positions are to be redelivered. */
export function redeliverQuery(redeliver: RedeliverJson | undefined, isWanted: boolean): { redeliver?: true } {
  return redeliver && redeliver.fixes > 0 && isWanted ? { redeliver: true } : {}
}

/** Returns what was done, and what is redelivered. */
export function doneText(text: string, redeliver: RedeliverJson | undefined, isWanted: boolean): string {
  if (redeliverQuery(redeliver, isWanted).redeliver === undefined || !redeliver) return text
  const { fixes } = redeliver
  return `${/[.!?]$/.test(text) ? text : `${text}.`} ${words.redeliver.begun(fixes, words.fixes(fixes, exact(fixes)))}`
}

type RouteOfCourier = NonNullable<RedeliverJson['from']>

/** Two routes; with their couriers if it is one route. */
function namesOf(from: RouteOfCourier, to: RouteOfCourier): [from: string, to: string] {
  const isOne = from.route_id === to.route_id
  const name = ({ route_id, courier_id }: RouteOfCourier) =>
    words.redeliver.route(route_id, isOne ? courier_id : undefined)
  return [name(from), name(to)]
}

/** Returns the times from the first to the last position; if not all moves are listed, the times that the change concerns. */
function timesOf({ fixes, moves, from_at, until_at }: RedeliverJson): [from: string, until: string] {
  const isWhole = moves.reduce((sum, move) => sum + move.fixes, 0) === fixes
  if (!isWhole || moves.length === 0) return [time(from_at), time(until_at)]
  const first = moves.reduce((least, { first_at }) => (first_at < least ? first_at : least), moves[0].first_at)
  const last = moves.reduce((most, { last_at }) => (last_at > most ? last_at : most), moves[0].last_at)
  return [time(first), time(last)]
}

const MOST_SHOWN = 8
