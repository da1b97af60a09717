import { yieldToEventLoop } from '../../async.ts'
import { entryAdvice } from '../../diagnose/explain.ts'
import { laneIds, sameId } from '../../domain/ids.ts'
import { utcFromLocal, fittingZone } from '../../domain/times.ts'
import { type Contact, type DeviceEvent, type DeviceRecord, readEvents } from '../../store/device-record.ts'
import { assignmentField } from '../../roster/assignment.ts'
import { belongedAt, type DeviceEntry } from '../../roster/device-entry.ts'
import { describeLanes, heldOf, type Store, receivedAt, timestampOf } from '../../store/index.ts'
import { asData } from '../../texts/language.ts'
import { say, type Text } from '../../texts/text.ts'
import { instant, stayJson } from '../json.ts'
import { laneJson } from '../lanes.ts'
import type { Operation } from '../operation.ts'
import type { RosterInEffect, RosterWrites } from '../roster/writes.ts'
import { DeviceJson } from '../schemas/devices.ts'
import type { Scope } from '../scope.ts'
import { airOfDevice } from './air.ts'
import { deviceEntryOperations } from './entry.ts'
import { contactJson } from './json.ts'
import { deviceRows, type RowSources } from './list.ts'

export interface DetailSources extends RowSources {
  readonly live: RosterInEffect
}

/**
 * `GET /admin/devices/{id}`: the entry of a device, its present lane, its held fixes, when it was last heard, and its last
 * events, latest first. For an unconfigured device: held fixes and when it was heard.
 */
export function deviceOperations(sources: DetailSources, change: RosterWrites): Operation[] {
  const handle: Operation['handle'] = async ({ params }, reply, scope) => {
    const { found, missing } = await describeDevice((params as { id: string }).id, sources, scope)
    return found ?? reply.code(404).send(missing)
  }

  return [
    {
      method: 'GET',
      path: '/admin/devices/{id}',
      id: 'getDevice',
      summary: "Get a device's entry, lane, held fixes, last contact and last events",
      answer: DeviceJson,
      refusals: [404, 422],
      reads: 'positions',
      companies: 'by_device',
      handle,
    },
    ...deviceEntryOperations(sources.live, change, handle),
  ]
}

/**
 * Resolves to everything about a device of a company in the scope, without what it did for other companies. `missing`: why
 * there is nothing to show, and the file that still has an entry of the device.
 */
export async function describeDevice(
  id: string,
  sources: DetailSources,
  scope: Scope,
): Promise<{ readonly found?: object; readonly missing?: { readonly message: Text; readonly file_entry?: string } }> {
  const { redis, directory, index, live } = sources
  const entry = directory().find(id)
  const name = entry?.id ?? id
  await index.catchUp()
  const now = Date.now()
  const zone = live.config.time_zone
  const [waiting, happened, air] = await Promise.all([
    readHeld(redis, entry, id),
    readEvents(redis, name),
    entry && airOfDevice(redis, name, { zone, now, isOwn: (day) => belongedAt(entry, day) }),
  ])
  const indexed = index.find(id)
  const [row] = indexed ? await deviceRows([indexed], sources) : []
  const { condition, position, place, said, findings, problem, state }: Partial<typeof row> = row ?? {}
  // Those of another company are discarded within a second.
  const own = waiting.filter(({ latest }) => !entry || belongedAt(entry, receivedAt(latest)))
  const held = await Promise.all(own.map((each) => heldJson(each, entry, live)))
  const isSeen = (event: DeviceEvent) =>
    (!entry || belongedAt(entry, event.at)) && (event.event !== 'routed' || scope.seesLane(event.lane))
  const events = happened.filter(isSeen).map(eventJson)
  const last = indexed?.id === name && indexed.heard && { state, ...heardJson(indexed.heard, index.contactOf(indexed)) }
  if (!entry) {
    const file_entry = hiddenEntry(live, id)
    if (held.length > 0 || last)
      return {
        found: {
          id: last ? id : sameId(id),
          configured: false,
          condition,
          findings,
          problem,
          file_entry,
          held,
          ...last,
          events,
        },
      }
    return {
      missing: { message: say('no device with this id is configured: {}', entryAdvice(file_entry)), file_entry },
    }
  }
  const stay = directory().stayAt(entry, now / 1000)
  const found = {
    ...entryJson(entry),
    configured: true,
    condition,
    position,
    place,
    said,
    findings,
    problem,
    held,
    // The lane of a fix measured now.
    lane: stay && {
      ...laneJson((await describeLanes(redis, [stay.lane.key], [redis.shardOf(name)]))[0]),
      ...stayJson(stay),
    },
    replaced_line: stay ? undefined : await hiddenLine(live, entry, now / 1000),
    state: 'never',
    ...last,
    air,
    events,
  }
  return { found }
}

/** Where the entry of a device stands that is in a file though the device was deleted: `devices.yaml:3`. */
function hiddenEntry(live: RosterInEffect, id: string): string | undefined {
  const entries = live.files()?.devices.flatMap(({ content }) => content.devices) ?? []
  return entries.find(({ device }) => sameId(device.id) === sameId(id))?.device.source
}

/**
 * Returns the line of a file that would give a device its route at a time, unix seconds, if no put had replaced it; of
 * several, the one with the latest `from`.
 */
async function hiddenLine(live: RosterInEffect, device: DeviceEntry, time: number) {
  const roster = live.directory()
  let latest: { source: string; from: number } | undefined
  for (const { content } of live.files()?.routes ?? [])
    for (const row of content.rows) {
      await yieldToEventLoop()
      if (row.from <= (latest?.from ?? -Infinity) || row.from > time || row.until <= time) continue
      if (!roster.meant(row.device).some(({ id }) => id === device.id)) continue
      if (!roster.assignment(assignmentField(row))) latest = { source: `${content.name}:${row.line}`, from: row.from }
    }
  return latest && { source: latest.source }
}

/** Fixes from before the device was configured are held under its id without leading zeros. */
async function readHeld(redis: Store, entry: DeviceEntry | undefined, id: string): Promise<HeldFixes[]> {
  const names = new Set([entry?.id ?? id, sameId(id)])
  return (await Promise.all(Array.from(names, (name) => heldOf(redis, name)))).flat()
}

type HeldFixes = Awaited<ReturnType<typeof heldOf>>[number]

async function heldJson(
  { reason, fixes, oldestAt, latest }: HeldFixes,
  entry: DeviceEntry | undefined,
  live: RosterInEffect,
): Promise<object> {
  return {
    reason,
    fixes,
    oldest_at: instant(oldestAt),
    offset: reason === 'clock' ? fittingZone(timestampOf(latest) * 1000 - receivedAt(latest)) : undefined,
    replaced_line: entry && reason === 'no_route' ? await hiddenLine(live, entry, timeOf(latest, entry)) : undefined,
  }
}

/** Returns the UTC time of a held record, unix seconds, which has the device's own time. */
function timeOf(record: Buffer, { time_zone }: DeviceEntry): number {
  const seconds = timestampOf(record)
  return time_zone === undefined ? seconds : utcFromLocal(seconds * 1000, time_zone) / 1000
}

/** `secret`, `previous_secret`: whether there is one, never which. */
function entryJson(entry: DeviceEntry): object {
  const shown = Object.fromEntries(SHOWN.map((key) => [key, entry[key]]))
  return {
    ...shown,
    settings: entry.settings && asData(entry.settings),
    secret: (entry.secret ?? entry.secretDigest) !== undefined,
    previous_secret: (entry.previous_secret ?? entry.previousSecretDigest) !== undefined || undefined,
  }
}

const SHOWN = [
  ...(['id', 'name', 'company_id', 'courier_id', 'route_id'] as const),
  ...(['time_zone', 'protocol', 'transports', 'networks', 'client_certificate'] as const),
  ...(['model', 'trial', 'feed', 'source'] as const),
]

/** `connectedAt`: of the contact that the device still has. */
function heardJson(heard: DeviceRecord, { connectedAt }: Pick<Contact, 'connectedAt'> = {}): object {
  const { fix, filtered, protocol, transport, remote } = heard
  const connection = { protocol, transport, remote, connected_at: instant(connectedAt) }
  return {
    last_heard: contactJson(heard),
    connection: connectedAt === undefined ? undefined : connection,
    last_fix: fix && { ...fixJson(fix.fix), received_at: instant(fix.at) },
    last_filtered: filtered && { ...filtered, at: instant(filtered.at), fix: fixJson(filtered.fix) },
  }
}

/** An event with the ids of its lane in place of the lane's name. */
function eventJson({ at, ...about }: DeviceEvent): object {
  if (about.event !== 'routed') return { at: instant(at), ...about }
  return { at: instant(at), event: about.event, ...laneIds(about.lane) }
}

/** A fix without the numbers that JSON cannot hold; they are stored as null. */
function fixJson({ time, latitude, longitude, ...rest }: NonNullable<DeviceRecord['fix']>['fix']): object {
  const fix = { time_at: instant(time), lat: latitude, lon: longitude, ...rest }
  return Object.fromEntries(Object.entries(fix).filter(([, value]) => value !== null))
}
