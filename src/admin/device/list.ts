import * as z from 'zod'
import { SENT_IN_VAIN } from '../../diagnose/codes.ts'
import { deviceTroubles } from '../../diagnose/devices.ts'
import { type VanProblem, vanProblem } from '../../diagnose/van-problem.ts'
import { sameId } from '../../domain/ids.ts'
import { parse } from '../../http/refusal.ts'
import type { Roster } from '../../roster/roster.ts'
import type { ArrivedSender } from '../../store/arrivals.ts'
import type { DeviceRecord } from '../../store/device-record.ts'
import { countHeld, isConnectionError, keys, type Store } from '../../store/index.ts'
import type { EventSource } from '../events/feed.ts'
import type { Findings } from '../findings.ts'
import { instant, stayJson } from '../json.ts'
import type { Operation } from '../operation.ts'
import { PageQuery, pageOfOrdered } from '../paging.ts'
import type { Places } from '../places.ts'
import { DeviceCondition, DeviceMapping, DeviceRowJson, DeviceState } from '../schemas/devices.ts'
import { pageSchema } from '../schemas/parts.ts'
import { surveyDevice, withoutOwnClock } from './condition.ts'
import type { DeviceIndex, IndexedDevice } from './device-index.ts'
import { contactJson, lastSaidJson } from './json.ts'
import type { LaneRefusals } from './lane-refusals.ts'

export interface DeviceSources {
  readonly redis: Store
  readonly directory: () => Roster
  /** How long a device without a lasting connection counts as online after it sent something. */
  readonly idleMs: number
}

export interface RowSources extends DeviceSources {
  readonly index: DeviceIndex
  readonly findings: Pick<Findings, 'current'>
  readonly refusals: Pick<LaneRefusals, 'of' | 'findingsOf'>
  readonly places: Places
}

/**
 * `GET /admin/devices`: all configured devices, and others that were heard or have held fixes. Sorted by name, devices
 * without a name last, then by id.
 */
export function deviceListOperations(sources: RowSources): Operation[] {
  const { index } = sources
  const handle: Operation['handle'] = async ({ query }, _reply, scope) => {
    const { state, mapping, condition, q, ...page } = parse(DevicesQuery, query)
    await index.catchUpIfPossible()
    const now = Date.now()
    const text = new RegExp(RegExp.escape(q), 'i')
    const asked = Object.entries({ state, mapping, condition }).filter(([, word]) => word !== undefined)
    const isListed = (device: IndexedDevice) => {
      // A place has the name and the id.
      if (q !== '' && !text.test(device.place[1])) return false
      // Reuses the last survey: there may be 100,000 devices.
      const does = asked.length === 0 ? {} : (device.surveyed ?? surveyDevice(device, sources, now))
      // Whose the device is comes last: that is looked up in its entry.
      return (
        asked.every(([key, word]) => does[key as keyof typeof does] === word) && scope.sees(device.entry?.company_id)
      )
    }
    const { results, ...rest } = await pageOfOrdered(index.inOrder, { list: 'devices', placeOf, isListed }, page)
    return { results: await deviceRows(results, sources), ...rest }
  }

  return [
    {
      method: 'GET',
      path: '/admin/devices',
      id: 'listDevices',
      summary: 'List the devices, by state, mapping, condition, or a part of the id or name',
      query: DevicesQuery,
      answer: pageSchema(DeviceRowJson),
      reads: 'positions',
      companies: 'filtered',
      handle,
    },
  ]
}

/** Emits devices that change, each at most once a second; if very many change, some a second later. */
export function deviceSource(sources: RowSources): EventSource {
  const { index } = sources
  let isBegun = false
  return {
    topic: 'device',
    async look() {
      if (!isBegun) index.followChanges()
      isBegun = true
      await index.catchUp()
      const changed = index.takeChanged(MOST_ROWS)
      if (changed.length === 0) return []
      return deviceRows(changed, sources).then(
        (rows) => [{ rows }],
        (error: unknown) => {
          for (const { id } of changed) index.touch(id)
          throw error
        },
      )
    },
  }
}

const MOST_ROWS = 500

function placeOf({ place }: IndexedDevice) {
  return place
}

const DevicesQuery = PageQuery.extend({
  state: DeviceState.optional(),
  mapping: DeviceMapping.optional(),
  condition: DeviceCondition.optional(),
  q: z.string('expected one text').default(''),
})

/** Resolves to the rows of devices for lists; without the number of held fixes while Redis is away. */
export async function deviceRows(devices: readonly IndexedDevice[], sources: RowSources) {
  const { directory, index, redis, findings, places, refusals } = sources
  const now = Date.now()
  const lists = devices.flatMap((device) => index.heldOf(device).map((list) => ({ ...list, of: device })))
  const counts = await countHeld(redis, lists).catch(ifAway)
  const held = new Map<IndexedDevice, number>()
  for (const [at, count] of counts.entries()) held.set(lists[at].of, (held.get(lists[at].of) ?? 0) + count)
  const arrived = await arrivalsOf(devices, redis)
  const codes = Map.groupBy(findings.current, ({ subject }) => subject.device)
  return devices.map((device) => {
    const { facts: known, ...words } = surveyDevice(device, sources, now)
    const facts = withoutOwnClock(known, findings.current)
    const { entry, heard, id } = device
    const stay = entry && directory().stayAt(entry, now / 1000)
    const fix = heard?.fix
    const noted = codes.get(id) ?? []
    const seen = noted.map(({ code }) => code)
    const isInVain = seen.some((code) => SENT_IN_VAIN.has(code))
    const own = deviceTroubles(facts, now, isInVain).map(({ code }) => code)
    const refusal = stay && refusals.of(stay.lane.key)
    const isUnproven = facts.isHeldUnknown === true && entry?.guard !== undefined
    const ofLane = stay ? refusals.findingsOf(stay.lane.key) : []
    const about = [...noted, ...ofLane]
    const problem = vanProblem({ device: facts, source: entry?.source, noted: about, refusal, isUnproven, now })
    return {
      id,
      name: entry?.name,
      configured: entry !== undefined,
      company_id: entry?.company_id,
      courier_id: entry?.courier_id,
      route_id: entry?.route_id,
      ...words,
      lane: stay && stayJson(stay),
      last_heard: heard ? contactJson(heard) : arrived.get(id),
      position: fix && positionJson(fix),
      place: fix && places.near(fix.fix.latitude, fix.fix.longitude),
      said: heard?.said && lastSaidJson(heard.said),
      held: held.get(device) || undefined,
      findings: [...new Set([...own, ...seen])],
      problem: problem && problemJson(problem),
    }
  })
}

function problemJson({ sinceAt, ...problem }: VanProblem) {
  return { ...problem, since_at: instant(sinceAt) }
}

/** When devices that are not configured last sent something, as contacts; empty while Redis is away. */
async function arrivalsOf(devices: readonly IndexedDevice[], redis: Store) {
  const ids = devices.flatMap(({ entry, heard, id }) => (heard || entry ? [] : id))
  const known = ids.length === 0 ? [] : await redis.hmget(keys.arrivedDevices, ...ids.map(sameId)).catch(ifAway)
  return new Map(
    known.flatMap((json, at) => {
      if (json === null) return []
      const { address: remote, ...arrival } = JSON.parse(json) as ArrivedSender
      return [[ids[at], contactJson({ ...arrival, remote })] as const]
    }),
  )
}

function ifAway(error: Error): never[] {
  if (!isConnectionError(error)) throw error
  return []
}

/** A position without the numbers that JSON cannot hold; they are stored as null. */
function positionJson({ fix }: NonNullable<DeviceRecord['fix']>): object {
  const { time, latitude: lat, longitude: lon, speed, heading, accuracy } = fix
  const known = Object.entries({ lat, lon, speed, heading, accuracy }).filter(([, value]) => typeof value === 'number')
  return { at: instant(time), ...Object.fromEntries(known) }
}
