import { utcFromLocal } from '../../config/times.ts'
import type { DeviceEvent } from '../../ingest/heard.ts'
import { readEvents, readHeard } from '../../ingest/heard-reader.ts'
import type { Heard } from '../../ingest/heard.ts'
import { describeLanes, heldOf, type Redis, receivedAt, timestampOf } from '../../lanes/index.ts'
import { type DeviceEntry, type Directory, type Stay, sameId } from '../../roster/directory.ts'
import type { Loaded } from '../../roster/load.ts'
import { contactJson, instant, laneIds, stayJson } from '../json.ts'
import { laneJson } from '../lanes.ts'
import type { Operation } from '../operation.ts'
import type { RosterSources, RosterWrites } from '../roster/writes.ts'
import { deletionOf, deletionText } from './deletion.ts'
import { deviceEntryOperations } from './entry.ts'
import { replacedLine } from './replaced-line.ts'
import { stateOf } from './state.ts'

export interface DeviceSources {
  readonly redis: Redis
  readonly directory: () => Directory
  /** How long a device without a lasting connection counts as online after it spoke. */
  readonly idleMs: number
}

/**
 * `GET /admin/devices/{id}`: how the device is configured, where its fixes go now and how that lane stands, what is held of
 * it, what was last heard of it, and its last events, latest first. Of one that nobody has configured (any more): what is held
 * and was heard.
 */
export function deviceOperations(
  { redis, directory, idleMs, roster, loaded }: DeviceSources & Pick<RosterSources, 'roster' | 'loaded'>,
  change: RosterWrites,
): Operation[] {
  const answer: Operation['answer'] = async ({ params }, reply) => {
    const { id } = params as { id: string }
    const entry = directory().find(id)
    const name = entry?.id ?? id
    const known = [readHeld(redis, entry, id), readHeard(redis, name), readEvents(redis, name)] as const
    const [waiting, heard, happened] = await Promise.all(known)
    const held = await Promise.all(waiting.map((each) => heldJson(each, entry, loaded())))
    const events = happened.map(eventJson)
    const now = Date.now()
    const last = heard && { state: stateOf(heard, now, idleMs), ...heardJson(heard) }
    if (!entry) {
      const deleted = deletionOf(loaded(), id)
      const deleted_at = instant(deleted?.at)
      if (held.length > 0 || heard)
        return { id: heard ? id : sameId(id), configured: false, deleted_at, held, ...last, events }
      reply.code(404)
      return { message: `no device with this id is configured: ${deletionText(deleted)}`, deleted_at }
    }
    const stay = directory().stayAt(entry, now / 1000)
    return {
      ...entryJson(entry),
      configured: true,
      held,
      lane: stay && (await laneNow(redis, stay)),
      replaced_line: stay ? undefined : await replacedLine(loaded(), entry, now / 1000),
      state: 'never',
      ...last,
      events,
    }
  }

  return [{ method: 'GET', path: '/admin/devices/:id', answer }, ...deviceEntryOperations(roster, change, answer)]
}

/** What came before the device was configured stands under its id without leading zeros. */
async function readHeld(redis: Redis, entry: DeviceEntry | undefined, id: string): Promise<Held[]> {
  const names = new Set([entry?.id ?? id, sameId(id)])
  return (await Promise.all(Array.from(names, (name) => heldOf(redis, name)))).flat()
}

type Held = Awaited<ReturnType<typeof heldOf>>[number]

async function heldJson(
  { reason, fixes, oldestAt, latest }: Held,
  entry: DeviceEntry | undefined,
  loaded: Loaded,
): Promise<object> {
  const mayBeReplaced = entry && reason === 'no_route'
  return {
    reason,
    fixes,
    oldest_at: instant(oldestAt),
    offset: reason === 'clock' ? fittingOffset(latest) : undefined,
    replaced_line: mayBeReplaced ? await replacedLine(loaded, entry, timeOf(latest, entry)) : undefined,
  }
}

/** Unix seconds of a record that is held, which has the time that the device said. */
function timeOf(record: Buffer, { time_zone }: DeviceEntry): number {
  const said = timestampOf(record)
  return time_zone === undefined ? said : utcFromLocal(said * 1000, time_zone) / 1000
}

/** The `time_zone` with which a record would have been made when it arrived, to a quarter hour; undefined where none is. */
function fittingOffset(record: Buffer): string | undefined {
  const quarters = Math.round((timestampOf(record) * 1000 - receivedAt(record)) / QUARTER_MS)
  if (Math.abs(quarters) > MOST_QUARTERS) return undefined
  const [hours, minutes] = [Math.floor(Math.abs(quarters) / 4), (Math.abs(quarters) % 4) * 15]
  return `${quarters < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`
}

const QUARTER_MS = 900_000
/** 14 hours. */
const MOST_QUARTERS = 56

/** Whether there is a secret, never which. */
function entryJson({
  id,
  name,
  company_id,
  courier_id,
  route_id,
  time_zone,
  model,
  secret,
  secretDigest,
  settings,
  source,
}: DeviceEntry): object {
  const hasSecret = secret !== undefined || secretDigest !== undefined
  return { id, name, company_id, courier_id, route_id, time_zone, model, settings, secret: hasSecret, source }
}

/** Courier and route of a fix made now, how their lane stands, and the line that says so. */
async function laneNow(redis: Redis, stay: Stay): Promise<object> {
  const [state] = await describeLanes(redis, [stay.lane.key])
  return { ...laneJson(state), ...stayJson(stay) }
}

function heardJson({ fix, filtered, ...contact }: Heard): object {
  const { protocol, transport, remote, connectedAt } = contact
  return {
    last_heard: contactJson(contact),
    connection:
      connectedAt === undefined ? undefined : { protocol, transport, remote, connected_at: instant(connectedAt) },
    last_fix: fix && { ...fixJson(fix.fix), received_at: instant(fix.at) },
    last_filtered: filtered && { ...filtered, at: instant(filtered.at), fix: fixJson(filtered.fix) },
  }
}

/** In place of a lane's name the ids of its courier and route. */
function eventJson({ at, ...about }: DeviceEvent): object {
  if (about.event !== 'routed') return { at: instant(at), ...about }
  return { at: instant(at), event: about.event, ...laneIds(about.lane) }
}

/** Numbers that JSON does not have are left out. */
function fixJson({ time, latitude, longitude, ...rest }: NonNullable<Heard['fix']>['fix']): object {
  const fix = { time_at: instant(time), lat: latitude, lon: longitude, ...rest }
  return Object.fromEntries(Object.entries(fix).filter(([, value]) => value !== null))
}
