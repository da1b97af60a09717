import type { JSX } from 'preact'
import type { EventJson } from '../../../admin/schemas/devices.ts'
import { Empty, Foreign, Panel, When } from '../../parts/basics.tsx'
import { words } from '../../words/index.ts'

/** The last events of a van, latest first. */
export function EventsPanel({ events }: { events: readonly EventJson[] }): JSX.Element {
  return (
    <Panel title={words.van.events} class="events-panel">
      {events.length === 0 ? (
        <Empty icon="activity" title={words.van.noEvents} text={words.van.noEventsText} />
      ) : (
        <ul class="events" tabIndex={0} aria-label={words.van.events}>
          {events.map((event, index) => (
            <li key={index} class={`event e-${event.event}`}>
              <When at={event.at} />
              <span class="event-text">
                <span>{words.van.event[event.event] ?? event.event}</span>
                <span class="muted">
                  <Foreign text={detailOf(event)} />
                </span>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function detailOf({ protocol, transport, remote, reason, route_id, courier_id }: EventJson): string {
  if (route_id !== undefined) return words.vans.onRoute(route_id, courier_id ?? '')
  return [words.van.heldFor[reason ?? ''] ?? reason, protocol, transport, remote].filter(Boolean).join(' · ')
}
