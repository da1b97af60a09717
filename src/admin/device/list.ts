import * as z from 'zod'
import { yieldToEventLoop } from '../../async.ts'
import { sameId } from '../../config/units.ts'
import { type Contact, isConnected } from '../../ingest/heard.ts'
import { surveyContacts } from '../../ingest/heard-reader.ts'
import { type Redis, surveyHeld } from '../../lanes/index.ts'
import type { DeviceEntry } from '../../roster/directory.ts'
import type { Roster } from '../../roster/roster.ts'
import { parse } from '../../tracking/refusal.ts'
import { contactJson, DeviceMapping, DeviceRowJson, DeviceState, pageSchema, stayJson } from '../json.ts'
import type { Operation } from '../operation.ts'
import { type ListPlace, PageQuery, pageOf } from '../paging.ts'

export interface DeviceSources {
  readonly redis: Redis
  readonly directory: () => Roster
  /** How long a device without a lasting connection counts as online after it sent something. */
  readonly idleMs: number
}

/**
 * `GET /admin/devices`: all configured devices, and the others that were heard or of which something is held. Ordered by name,
 * those without a name last, then by id.
 */
export function deviceListOperations({ redis, directory, idleMs }: DeviceSources): Operation[] {
  const handle: Operation['handle'] = async ({ query }) => {
    const { state, mapping, q, ...page } = parse(DevicesQuery, query)
    const roster = directory()
    const now = Date.now()
    const surveyed = await surveyDevices(redis, roster)
    const devices = surveyed.values().map((device) => rowOf(device, { roster, now, idleMs }))
    const isListed = (device: DeviceRow) =>
      (state ?? device.state) === device.state &&
      (mapping ?? device.mapping) === device.mapping &&
      [device.id, device.entry?.name ?? ''].some((text) => text.toLowerCase().includes(q.toLowerCase()))
    const listing = {
      list: 'devices',
      placeOf: ({ id, entry }: DeviceRow) => placeOfDevice({ id, name: entry?.name }),
      isListed,
    }
    const { results, ...rest } = await pageOf(devices, listing, page)
    return { results: results.map(rowJson), ...rest }
  }

  return [
    {
      method: 'GET',
      path: '/admin/devices',
      id: 'listDevices',
      summary: 'List the devices, by state, mapping, or a part of the id or name',
      query: DevicesQuery,
      answer: pageSchema(DeviceRowJson),
      handle,
    },
  ]
}

const DevicesQuery = PageQuery.extend({
  state: DeviceState.optional(),
  mapping: DeviceMapping.optional(),
  q: z.string('expected one text').default(''),
})

interface SurveyedDevice {
  id: string
  readonly entry?: DeviceEntry
  contact?: Contact
  /** Fixes. */
  held: number
}

type DeviceRow = ReturnType<typeof rowOf>

async function surveyDevices(redis: Redis, directory: Roster): Promise<ReadonlyMap<string, SurveyedDevice>> {
  const devices = new Map<string, SurveyedDevice>()
  const get = (name: string): SurveyedDevice => {
    const id = sameId(name)
    const device = devices.get(id) ?? { id, held: 0 }
    devices.set(id, device)
    return device
  }
  for (const entry of directory.devices()) {
    devices.set(sameId(entry.id), { id: entry.id, entry, held: 0 })
    await yieldToEventLoop()
  }
  for await (const { device: name, contact } of surveyContacts(redis)) {
    const device = get(name)
    if (device.entry ? device.id === name : contact.at > (device.contact?.at ?? 0))
      Object.assign(device, { id: name, contact })
  }
  for await (const { device, fixes } of surveyHeld(redis)) get(device).held += fixes
  return devices
}

/** A device that is not configured and was never heard has no state. */
function rowOf(
  device: SurveyedDevice,
  { roster, now, idleMs }: { readonly roster: Roster; readonly now: number; readonly idleMs: number },
) {
  const { entry, contact } = device
  const stay = entry && roster.stayAt(entry, now / 1000)
  const mapping: DeviceMapping = !entry ? 'unmapped' : stay ? 'mapped' : 'no_route'
  return { ...device, stay, mapping, state: entry || contact ? stateOf(contact, now, idleMs) : undefined }
}

/**
 * A device with an open connection is online; over UDP, HTTP and a relay, where it has no lasting one, a device that sent
 * something within `idleMs`. `now`: ms UTC.
 */
export function stateOf(contact: Contact | undefined, now: number, idleMs: number): DeviceState {
  if (!contact) return 'never'
  const isRecent = !isConnected(contact) && now - contact.at <= idleMs
  return contact.connectedAt !== undefined || isRecent ? 'online' : 'offline'
}

/** How many configured devices are in each state. */
export async function countDevices({ redis, directory, idleMs }: DeviceSources): Promise<Record<DeviceState, number>> {
  const now = Date.now()
  const states = new Map<string, DeviceState>()
  for await (const { device, contact } of surveyContacts(redis)) states.set(device, stateOf(contact, now, idleMs))
  const counts = { online: 0, offline: 0, never: 0 }
  for (const { id } of directory().devices()) counts[states.get(id) ?? 'never']++
  return counts
}

/** By name, then by id; devices without a name are last. */
export function placeOfDevice({ id, name }: { readonly id: string; readonly name?: string }): ListPlace {
  return name === undefined ? [1, id] : [0, `${name}\0${id}`]
}

function rowJson({ id, entry, mapping, stay, state, contact, held }: DeviceRow): object {
  const { name, company_id, courier_id, route_id } = entry ?? {}
  return {
    id,
    name,
    configured: entry !== undefined,
    company_id,
    courier_id,
    route_id,
    mapping,
    lane: stay && stayJson(stay),
    state,
    last_heard: contact && contactJson(contact),
    held: held > 0 ? held : undefined,
  }
}
