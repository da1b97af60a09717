import type { JSX } from 'preact'
import type { PageAddress } from '../../router.ts'
import { words } from '../../words/index.ts'
import { LanesPanel } from './lanes-panel.tsx'
import { ParkedPanel } from './parked-panel.tsx'

/** Positions that wait for the tracking API, by lane, and positions that it has refused. */
export function Queues({ place }: { place: PageAddress }): JSX.Element {
  return (
    <div class="stack">
      <header class="view-head">
        <h1>{words.nav.queues}</h1>
      </header>
      <ParkedPanel />
      <LanesPanel sort={place.query.get('sort') === 'oldest' ? 'oldest' : 'waiting'} />
    </div>
  )
}
