import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { DeviceJson, DeviceRowJson } from '../../../admin/schemas/devices.ts'
import type { DayJson } from '../../../admin/schemas/days.ts'
import { allOf, api } from '../../data/api.ts'
import { RequestError } from '../../data/client.ts'
import { dayAfter, type LocalDay } from '../../data/day.ts'
import { staysOf } from '../../data/day-plan.ts'
import { useAsked } from '../../data/hooks.ts'
import { placeAt, type ReplayPlace, type TrackPoint } from '../../data/replay.ts'
import { conditionOf, whereIs } from '../../data/van.ts'
import { dateText, exact } from '../../format.ts'
import { MapView } from '../../map/map-view.tsx'
import { Empty, Panel } from '../../parts/basics.tsx'
import { words } from '../../words/index.ts'
import { Replay } from './replay.tsx'

interface TrackPanelProps {
  readonly detail: DeviceJson
  readonly row: DeviceRowJson | undefined
  /** A day of the roster. */
  readonly day: LocalDay
  /** Facts about the van's day. */
  readonly sheet: DayJson | undefined
}

/** The place of a van, its way on a day according to the tracking API, and a replay of it. */
export function TrackPanel({ detail, row, day, sheet }: TrackPanelProps): JSX.Element {
  const { id } = detail
  const isToday = day.until > Date.now()
  // A change of the route today is a change of the way.
  const { answer, isLoading } = useAsked(
    `track ${id} ${day.day} ${isToday ? detail.lane?.route_id : ''}`,
    () => readTrack(detail, day),
    TRACK_MS,
  )
  const track = answer?.track ?? NONE
  const [replayedAt, setReplayedAt] = useState<number>()
  const at = replayedAt ?? (isToday ? undefined : track.at(0)?.at)
  const place = at === undefined ? undefined : placeAt(track, at)
  const vans = useMemo(() => {
    const live = row && whereIs(row) ? row : rowOf(detail)
    if (at === undefined && isToday) return live ? [live] : []
    return place ? [replayed(live ?? bareRow(detail), place, at)] : []
  }, [row, detail.last_fix, at, track])
  const name = dateText(day.day)
  const hint = answer
    ? [
        track.length > 0
          ? words.van.trackHint(track.length, exact(track.length))
          : !answer.isUnread && words.van.noTrack,
        answer.isUnread && (track.length > 0 ? words.van.replay.partly : words.van.replay.unread),
      ]
        .filter(Boolean)
        .join(' · ')
    : isLoading
      ? words.loading
      : ''
  return (
    <Panel title={isToday ? words.van.track : words.van.trackOf(name)} hint={hint} class="track-panel">
      {vans.length === 0 && track.length === 0 ? (
        <Empty
          icon="map"
          title={isToday ? words.van.nowhere : words.van.nothing}
          text={isToday ? words.van.nowhereText : undefined}
        />
      ) : (
        <div class="track-map">
          <MapView
            label={words.van.track}
            vans={vans}
            chosen={id}
            track={track}
            fitKey={`${detail.lane?.route_id} ${track.length > 0}`}
          />
        </div>
      )}
      {track.length > 0 ? (
        <Replay
          day={day}
          sheet={sheet}
          track={track}
          at={at}
          isKnown={place?.isKnown ?? false}
          canLeave={isToday}
          show={setReplayedAt}
        />
      ) : (
        answer && (
          <p class="replay-none">{answer.isUnread ? words.van.replay.unread : words.van.replay.nothing(name)}</p>
        )
      )}
    </Panel>
  )
}

/** A van with its last position. */
function rowOf(detail: DeviceJson): DeviceRowJson | undefined {
  const { last_fix: fix } = detail
  if (fix?.lat === undefined || fix.lon === undefined) return undefined
  const { lat, lon, heading, speed } = fix
  return { ...bareRow(detail), position: { at: fix.time_at ?? fix.received_at, lat, lon, heading, speed } }
}

function bareRow(detail: DeviceJson): DeviceRowJson {
  return {
    id: detail.id,
    name: detail.name,
    configured: true,
    mapping: 'mapped',
    condition: conditionOf(detail),
    problem: detail.problem,
    findings: [],
  }
}

/** Returns a van at an earlier place, without its present troubles. */
function replayed(row: DeviceRowJson, { lat, lon, heading, isKnown }: ReplayPlace, at = 0): DeviceRowJson {
  const condition = !isKnown ? 'silent' : heading === undefined ? 'standing' : 'moving'
  return { ...row, problem: undefined, condition, position: { at: new Date(at).toISOString(), lat, lon, heading } }
}

interface ReadTrack {
  readonly track: readonly TrackPoint[]
  /** Whether a route of the day could not be read. */
  readonly isUnread: boolean
}

/** Reads the positions of a day from the tracking API, on each route of the van for the time that it had the route. */
async function readTrack({ id, company_id, route_id, courier_id }: DeviceJson, day: LocalDay): Promise<ReadTrack> {
  if (company_id === undefined) return { track: NONE, isUnread: false }
  const query = { device: id, from: day.day, until: dayAfter(day.day) }
  const lines = await allOf((page) => api.routes({ ...page, ...query }), MOST_LINES)
  const stays = staysOf({ route_id, courier_id }, lines, day)
  const parts = await Promise.all(
    stays.map(async ({ route_id: route, from, until }, index) => {
      // A line that begins later covers an earlier one.
      const end = Math.min(until, stays[index + 1]?.from ?? until, Date.now())
      return end > from ? readRoute(company_id, route, { from, until: end }) : NONE
    }),
  )
  const points = parts.flatMap((part) => part ?? NONE)
  return {
    track: points.toSorted((one, other) => one.at - other.at),
    isUnread: parts.some((part) => part === undefined),
  }
}

/** Resolves to the positions of a route; undefined if the tracking API cannot be asked. */
async function readRoute(
  company: string,
  route: string,
  { from, until }: Pick<LocalDay, 'from' | 'until'>,
): Promise<readonly TrackPoint[] | undefined> {
  const query = { from: Math.ceil(from / 1000), to: Math.ceil(until / 1000) - 1 }
  try {
    const positions = await api.track(company, route, query)
    return positions.map(({ lat, lon, timestamp }) => ({ at: timestamp * 1000, lat, lon }))
  } catch (error) {
    // The tracking API has no positions of a route that it does not know.
    return error instanceof RequestError && error.status === 404 ? NONE : undefined
  }
}

const NONE: readonly TrackPoint[] = []
const MOST_LINES = 1000
const TRACK_MS = 30_000
