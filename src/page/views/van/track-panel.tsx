import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { DeviceJson, DeviceRowJson } from '../../../admin/schemas/devices.ts'
import { api, unlessMissing } from '../../data/api.ts'
import { zone } from '../../data/clock.ts'
import { dayAt, localDay } from '../../data/day.ts'
import { useAsked } from '../../data/hooks.ts'
import { conditionOf, whereIs } from '../../data/van.ts'
import { exact } from '../../format.ts'
import { MapView } from '../../map/map-view.tsx'
import type { TrackPoint } from '../../map/track.ts'
import { Empty, Panel } from '../../parts/basics.tsx'
import { words } from '../../words/index.ts'

/** Where a van is, and its way today as the tracking API has it. */
export function TrackPanel({ detail, row }: { detail: DeviceJson; row?: DeviceRowJson }): JSX.Element {
  const { lane, last_fix: fix } = detail
  const company = lane?.company_id
  const route = lane?.route_id
  const { answer: track = [], isLoading } = useAsked(
    `track ${company} ${route}`,
    () => (company && route ? readTrack(company, route) : Promise.resolve([])),
    TRACK_MS,
  )
  const vans = useMemo(() => {
    if (row && whereIs(row)) return [row]
    if (fix?.lat === undefined || fix.lon === undefined) return []
    const { lat, lon, heading, speed } = fix
    const position = { at: fix.time_at ?? fix.received_at, lat, lon, heading, speed }
    return [
      {
        id: detail.id,
        name: detail.name,
        configured: true,
        mapping: 'mapped',
        condition: conditionOf(detail),
        problem: detail.problem,
        position,
        findings: [],
      } satisfies DeviceRowJson,
    ]
  }, [row, fix])
  const hint =
    track.length > 0 ? words.van.trackHint(exact(track.length)) : isLoading ? words.loading : words.van.noTrack
  return (
    <Panel title={words.van.track} hint={hint} class="track-panel">
      {vans.length === 0 && track.length === 0 ? (
        <Empty icon="map" title={words.van.nowhere} text={words.van.nowhereText} />
      ) : (
        <div class="track-map">
          <MapView
            label={words.van.track}
            vans={vans}
            chosen={detail.id}
            track={track}
            fitKey={`${route} ${track.length > 0}`}
          />
        </div>
      )}
    </Panel>
  )
}

/** The positions of a route since midnight; none where the tracking API cannot be asked. */
async function readTrack(company: string, route: string): Promise<TrackPoint[]> {
  const midnight = localDay(dayAt(Date.now(), zone()), zone()).from
  const query = { from: Math.floor(midnight / 1000), to: Math.floor(Date.now() / 1000) }
  const positions = await unlessMissing(api.track(company, route, query)).catch(() => undefined)
  const points = (positions ?? []).map(({ lat, lon, timestamp }) => ({ at: timestamp * 1000, lat, lon }))
  return points.toSorted((one, other) => one.at - other.at)
}

const TRACK_MS = 30_000
