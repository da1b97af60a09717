import type { JSX } from 'preact'
import type { DeviceChangeJson } from '../../../admin/schemas/roster.ts'
import { Foreign } from '../../parts/basics.tsx'
import { useMore } from '../../parts/more.tsx'
import { words } from '../../words/index.ts'

/** The changes of a list of vans, van by van. */
export function EntryChanges({ changes }: { changes: readonly DeviceChangeJson[] }): JSX.Element {
  const { shown, more } = useMore(changes, MOST_VANS)
  return (
    <div class="changes" tabIndex={0} role="region" aria-label={words.list.changes}>
      <ul>
        {shown.map((change) => (
          <li key={change.device} class="change">
            <span class="change-van">
              <Foreign text={change.name ?? change.device} />
              <Tag change={change} />
              {change.name !== undefined && <span class="muted mono">{change.device}</span>}
            </span>
            <span class="change-lines">
              <Cells change={change} />
            </span>
          </li>
        ))}
      </ul>
      {more}
    </div>
  )
}

function Tag({ change: { before, after, arrived_at } }: { change: DeviceChangeJson }): JSX.Element | null {
  if (!after) return <span class="tag is-error">{words.list.goes}</span>
  if (before) return null
  return <span class="tag is-ok">{arrived_at === undefined ? words.list.isNew : words.list.isNewAndHere}</span>
}

/** The fields of the entry that differ, before and after. */
function Cells({ change: { before = {}, after = {} } }: { change: DeviceChangeJson }): JSX.Element {
  const cells = (of: typeof after, kind: 'before' | 'after') => {
    const Text = kind === 'before' ? 'del' : 'ins'
    return KEYS.flatMap((key) => {
      const text = of[key]
      if (text === undefined) return []
      return (
        <Text key={`${kind} ${key}`} class={`line-text is-${kind}`}>
          <span class="sr-only">{words.roster.lineIs[kind]} </span>
          {words.list.readAs[key]} <b>{text}</b>
        </Text>
      )
    })
  }
  return (
    <>
      {cells(before, 'before')}
      {cells(after, 'after')}
    </>
  )
}

const KEYS = ['name', 'courier_id', 'route_id', 'time_zone', 'model'] as const
const MOST_VANS = 40
