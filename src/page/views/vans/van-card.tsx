import type { JSX } from 'preact'
import type { DeviceRowJson } from '../../../admin/schemas/devices.ts'
import { useNow } from '../../data/hooks.ts'
import { nameOf, seenAt, speedOf } from '../../data/van.ts'
import { age, capital, speed } from '../../format.ts'
import { ConditionDot, Foreign, When } from '../../parts/basics.tsx'
import { Icon } from '../../parts/icon.tsx'
import { href } from '../../router.ts'
import { words } from '../../words/index.ts'

/** The van that was chosen on the map. */
export function VanCard({ van, close }: { van: DeviceRowJson; close: () => void }): JSX.Element {
  const now = useNow()
  const { place, lane, problem, said } = van
  const kmh = speedOf(van)
  return (
    <aside class="van-card" aria-label={nameOf(van)}>
      <header>
        <strong>
          <Foreign text={nameOf(van)} />
        </strong>
        <button type="button" class="button quiet small" onClick={close} aria-label={words.close}>
          <Icon name="close" size={14} />
        </button>
      </header>
      <p class="van-card-line">
        <ConditionDot van={van} />
        {kmh !== undefined && <span class="num">{speed(kmh)}</span>}
        <span class="muted num">{age(seenAt(van), now)}</span>
      </p>
      {problem && <p class={`tone-${problem.severity}`}>{capital(problem.message)}</p>}
      {place && <p>{place}</p>}
      {said?.ignition && (
        <p class="muted">
          {words.van.said.ignition} {words.van.saidState.ignition?.[said.ignition.value ? 'yes' : 'no']}{' '}
          {words.van.since} <When at={said.ignition.since_at} />
        </p>
      )}
      <p class="muted">{lane ? words.vans.onRoute(lane.route_id, lane.courier_id) : words.vans.noRoute}</p>
      <a class="button primary" href={href('vans', { id: van.id })}>
        {words.act.openVan}
      </a>
    </aside>
  )
}
