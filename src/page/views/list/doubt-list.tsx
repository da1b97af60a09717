import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { DoubtJson } from '../../../admin/schemas/device-import.ts'
import { useNow } from '../../data/hooks.ts'
import { age, exact } from '../../format.ts'
import { Foreign } from '../../parts/basics.tsx'
import { Icon } from '../../parts/icon.tsx'
import { useMore } from '../../parts/more.tsx'
import { words } from '../../words/index.ts'

type Accepted = Readonly<Record<string, string>>

interface DoubtListProps {
  readonly doubtful: readonly DoubtJson[]
  readonly accepted: Accepted
  readonly accept: (accepted: Accepted) => void
}

/** The lines with doubtful ids, each with the ways to decide it, and those that are decided. */
export function DoubtList({ doubtful, accepted, accept }: DoubtListProps): JSX.Element | null {
  const { shown, more } = useMore(doubtful, MOST_SHOWN, { isSmall: true })
  const decided = Object.entries(accepted)
  if (doubtful.length + decided.length === 0) return null
  return (
    <section class="doubts" aria-label={words.list.doubts}>
      {doubtful.length > 0 && (
        <h3>
          {words.list.doubts} <span class="num">{exact(doubtful.length)}</span>
        </h3>
      )}
      <ul>
        {shown.map((doubt) => (
          <Doubt key={doubt.line} doubt={doubt} accept={(id) => accept({ ...accepted, [doubt.line]: id })} />
        ))}
      </ul>
      {more}
      {decided.length > 0 && (
        <ul class="decided">
          {decided.map(([line, id]) => (
            <li key={line}>
              <Icon name="ok" size={14} />
              <span class="remark-line num">{words.roster.line(line)}</span>
              <Foreign text={id} mono />
              <button
                type="button"
                class="button quiet small"
                aria-label={words.list.ask(line)}
                onClick={() => accept(Object.fromEntries(decided.filter(([other]) => other !== line)))}
              >
                <Icon name="undo" size={14} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Doubt({ doubt, accept }: { doubt: DoubtJson; accept: (id: string) => void }): JSX.Element {
  const now = useNow(15_000)
  const [typed, setTyped] = useState('')
  const { line, device = '', id, name, message, suggestions } = doubt
  return (
    <li class="doubt">
      <p>
        <span class="remark-line num">{words.roster.line(exact(line))}</span>{' '}
        {name !== undefined && <Foreign text={name} />} <Foreign text={device} mono />{' '}
        <span class="doubt-why">{message}</span>
      </p>
      <div class="doubt-acts">
        {suggestions.map(({ id: other, name: known, arrived_at }) => (
          <button key={other} type="button" class="button small" onClick={() => accept(other)}>
            <span>
              {arrived_at === undefined ? words.list.isVan(known ?? '') : words.list.hasArrived(age(arrived_at, now))}{' '}
              <span class="mono">{other}</span>
            </span>
          </button>
        ))}
        {id !== undefined && (
          <button type="button" class="button small" onClick={() => accept(id)}>
            {words.list.asItIs}
          </button>
        )}
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (typed.trim() !== '') accept(typed.trim())
          }}
        >
          <input
            aria-label={words.list.otherId(String(line))}
            placeholder={words.list.typeId}
            autocomplete="off"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <button type="submit" class="button small" disabled={typed.trim() === ''}>
            {words.list.take}
          </button>
        </form>
      </div>
    </li>
  )
}

const MOST_SHOWN = 20
