import type { JSX } from 'preact'
import type { ColumnJson } from '../../../admin/schemas/device-import.ts'
import { Foreign } from '../../parts/basics.tsx'
import { words } from '../../words/index.ts'

/** The chosen meanings of columns, by name; null: ignored. */
export type Chosen = Readonly<Record<string, ColumnJson['read_as']>>

interface ColumnFieldsProps {
  readonly columns: readonly ColumnJson[]
  readonly chosen: Chosen
  readonly choose: (chosen: Chosen) => void
}

/** Each column of a list with its meaning, which can be changed. */
export function ColumnFields({ columns, chosen, choose }: ColumnFieldsProps): JSX.Element {
  return (
    <ul class="list-columns" aria-label={words.list.columns}>
      {columns.map(({ name, read_as, note }, at) => (
        <li key={`${at} ${name}`}>
          <label class={`field ${read_as === null ? 'is-aside' : ''}`}>
            <Foreign text={name} />
            <select
              value={read_as ?? ASIDE}
              onChange={(event) => {
                const { value } = event.currentTarget
                choose({ ...chosen, [name]: value === ASIDE ? null : (value as ColumnJson['read_as']) })
              }}
            >
              {FIELDS.map((field) => (
                <option key={field} value={field}>
                  {words.list.readAs[field]}
                </option>
              ))}
              <option value={ASIDE}>{words.list.aside}</option>
            </select>
            {note && !Object.hasOwn(chosen, name) && <span class="field-hint">{note}</span>}
          </label>
        </li>
      ))}
    </ul>
  )
}

const ASIDE = 'aside'
const FIELDS = ['device', 'name', 'courier_id', 'route_id', 'time_zone', 'model'] as const
