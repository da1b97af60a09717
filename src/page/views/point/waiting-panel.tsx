import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { DeviceRowJson } from '../../../admin/schemas/devices.ts'
import { nameOf, whereIs } from '../../data/van.ts'
import { coordinates } from '../../format.ts'
import { Foreign, Panel, When } from '../../parts/basics.tsx'
import { Icon } from '../../parts/icon.tsx'
import { href } from '../../router.ts'
import { words } from '../../words/index.ts'
import { EntryDialog } from '../van/entry-dialog.tsx'
import { plain } from './heard.ts'
import { useAwaited } from './waiting.ts'

/** Waits for the tracker, and shows it with its first position when it has come. */
export function WaitingPanel({ id }: { id: string }): JSX.Element {
  const { vans, positions, unread } = useAwaited(id)
  const [naming, setNaming] = useState<string>()
  return (
    <Panel title={words.point.waitTitle}>
      <div class="point-wait" role="status">
        {vans.length === 0 && (
          <p class="point-waiting">
            <span class="pulse" />
            {id === '' ? words.point.waitAny : words.point.waitFor(id)}
          </p>
        )}
        {vans.map((van) => (
          <Found
            key={van.id}
            van={van}
            position={van.position ?? positions.get(plain(van.id))}
            name={() => setNaming(van.id)}
          />
        ))}
        {vans.length === 0 && unread && (
          <p class="hint">
            {words.point.unread(unread.address, unread.port)} <a href={href('arrivals')}>{words.nav.arrivals}</a>
          </p>
        )}
      </div>
      {naming !== undefined && (
        <EntryDialog detail={{ id: naming, configured: false }} close={() => setNaming(undefined)} />
      )}
    </Panel>
  )
}

interface FoundProps {
  readonly van: DeviceRowJson
  readonly position: DeviceRowJson['position']
  readonly name: () => void
}

function Found({ van, position, name }: FoundProps): JSX.Element {
  const where = whereIs({ position })
  return (
    <div class="point-found">
      <p>
        <span class="tag is-ok">
          <Icon name="ok" size={12} /> {words.point.found}
        </span>{' '}
        <a class="strong" href={href('vans', { id: van.id })}>
          <Foreign text={nameOf(van)} />
        </a>{' '}
        {van.last_heard?.protocol && <span class="tag">{van.last_heard.protocol}</span>}
      </p>
      {where ? (
        <p>
          {van.place ? `${van.place}, ` : ''}
          <span class="num">{coordinates(where)}</span> <When at={position?.at} />
        </p>
      ) : (
        <p class="hint">{words.point.noPosition}</p>
      )}
      {!van.configured && (
        <button type="button" class="button primary" onClick={name}>
          {words.act.openArrivals}
        </button>
      )}
    </div>
  )
}
