import * as z from 'zod'
import { yieldToEventLoop } from '../../async.ts'
import { surveyContacts } from '../../ingest/heard-reader.ts'
import type { Contact } from '../../ingest/heard.ts'
import { type Redis, surveyHeld } from '../../lanes/index.ts'
import { type DeviceEntry, type Directory, type Stay, sameId } from '../../roster/directory.ts'
import { parse } from '../../tracking/refusal.ts'
import { contactJson, stayJson } from '../json.ts'
import type { Operation } from '../operation.ts'
import { PageQuery, type Place, pageOf } from '../paging.ts'
import type { DeviceSources } from './device.ts'
import { type DeviceState, stateOf } from './state.ts'

/**
 * `GET /admin/devices`: all that are configured, and those that are not but were heard or have something held. By name, those
 * without one behind, then by id.
 */
export function deviceListOperations({ redis, directory, idleMs }: DeviceSources): Operation[] {
  const answer: Operation['answer'] = async ({ query }) => {
    const { state, mapping, q, ...page } = parse(DevicesQuery, query)
    const now = directory()
    const at = Date.now()
    const devices = (await surveyDevices(redis, now))
      .values()
      .map((device) => ({ ...device, ...mappingOf(device, now, at), state: stateNow(device, at, idleMs) }))
    const isListed = (device: Listed) =>
      (state ?? device.state) === device.state &&
      (mapping ?? device.mapping) === device.mapping &&
      (contains(device.id, q) || contains(device.entry?.name ?? '', q))
    const { results, ...rest } = await pageOf(devices, { list: 'devices', placeOf, isListed }, page)
    return { results: results.map(deviceJson), ...rest }
  }

  return [{ method: 'GET', path: '/admin/devices', answer }]
}

const DevicesQuery = PageQuery.extend({
  state: z.enum(['online', 'offline', 'never'], 'expected online, offline or never').optional(),
  mapping: z.enum(['mapped', 'unmapped', 'no_route'], 'expected mapped, unmapped or no_route').optional(),
  q: z.string('expected one text').default(''),
})

/** `mapped`: has a lane now; `no_route`: is configured and has none; `unmapped`: is not configured. */
type Mapping = NonNullable<z.infer<typeof DevicesQuery>['mapping']>

interface Surveyed {
  id: string
  readonly entry?: DeviceEntry
  contact?: Contact
  /** Fixes. */
  held: number
}

interface Listed extends Surveyed {
  readonly mapping: Mapping
  readonly stay?: Stay
  readonly state?: DeviceState
}

async function surveyDevices(redis: Redis, directory: Directory): Promise<ReadonlyMap<string, Surveyed>> {
  const devices = new Map<string, Surveyed>()
  const get = (name: string): Surveyed => {
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

function contains(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase())
}

function mappingOf({ entry }: Surveyed, directory: Directory, now: number): Pick<Listed, 'mapping' | 'stay'> {
  if (!entry) return { mapping: 'unmapped' }
  const stay = directory.stayAt(entry, now / 1000)
  return { mapping: stay ? 'mapped' : 'no_route', stay }
}

/** Whether a device is connected that nobody has configured, is not known. */
function stateNow({ entry, contact }: Surveyed, now: number, idleMs: number): DeviceState | undefined {
  return entry || contact ? stateOf(contact, now, idleMs) : undefined
}

function placeOf({ id, entry }: Listed): Place {
  return placeOfDevice({ id, name: entry?.name })
}

/** By name, those without one behind, then by id. */
export function placeOfDevice({ id, name }: { readonly id: string; readonly name?: string }): Place {
  return name === undefined ? [1, id] : [0, `${name}\0${id}`]
}

function deviceJson({ id, entry, mapping, stay, state, contact, held }: Listed): object {
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
