import { readDeviceJson } from '../config/device-entry.ts'
import { type Device, sameId } from '../config/directory.ts'
import type { Loaded } from '../config/load.ts'
import { secretDigest } from '../config/secret.ts'
import type { Roster } from '../roster/index.ts'
import { readBody } from '../tracking/body.ts'
import { Refusal, refuseFields } from '../tracking/refusal.ts'
import { isJson, parseJson } from './json-body.ts'
import type { Operation } from './operation.ts'
import type { RosterWrites } from './roster.ts'

/**
 * `PUT /admin/devices/{id}`: configures a device; what is held of it goes where it belongs. The body is its entry of
 * devices.yaml as JSON, or what `get` answers. A secret, which nobody can read back, stays where the body has none, and goes
 * with `null`. `DELETE /admin/devices/{id}`: from now on nobody has configured it.
 */
export function deviceEntryOperations(roster: Roster, change: RosterWrites, get: Operation['answer']): Operation[] {
  const put: Operation['answer'] = async (request, reply) => {
    const { id } = request.params as { id: string }
    const entry = entryOf(await readBody(request.raw), request.headers['content-type'])
    await change(async (loaded) => ({ at: await roster.putDevice(id, await deviceOf(loaded, id, entry)) }))
    return get(request, reply)
  }

  const remove: Operation['answer'] = async (request) => {
    const { id } = request.params as { id: string }
    await change(async ({ directory }) => {
      if (!directory.find(id)) throw new Refusal(404, 'no device with this id is configured')
      return { at: await roster.putDevice(id, null) }
    })
    return { deleted: 1 }
  }

  return [
    { method: 'PUT', path: '/admin/devices/:id', rawBody: true, answer: put },
    { method: 'DELETE', path: '/admin/devices/:id', answer: remove },
  ]
}

type Entry = Readonly<Record<string, unknown>>

/** @throws Refusal 422 where the body is no JSON object, 415 where it is not declared as one. */
function entryOf(bytes: Buffer, contentType = ''): Entry {
  if (!isJson(contentType)) throw new Refusal(415, 'send the device as application/json')
  const entry = parseJson(bytes, (digits) => JSON.rawJSON(digits))
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    throw new Refusal(422, 'expected an object with company_id')
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !READ_ONLY.has(key)))
}

/** The device that an entry makes. @throws Refusal 422 with all that is wrong with it. */
async function deviceOf({ config, devices, directory }: Loaded, id: string, entry: Entry): Promise<Device> {
  const { secret, ...rest } = entry
  const before = directory.find(id)
  const known = before?.id ?? id
  const fresh = typeof secret === 'string' ? { secret } : {}
  const read = await readDeviceJson(
    { id: known, json: JSON.stringify({ ...rest, ...fresh }), source: '' },
    {
      others: devices.filter((device) => sameId(device.id) !== sameId(id)),
      companyIds: new Set(config.companies.map(({ company_id }) => company_id)),
    },
  )
  if ('mistakes' in read)
    throw refuseFields(
      422,
      read.mistakes.map(({ key = '', message }) => ({ path: key, message })),
    )
  return withDigest(read.device, secret === undefined || secret === true ? before : undefined)
}

/** A device as it may be stored: with a digest of its secret, or of the one that it had. */
function withDigest({ secret, ...device }: Device, before: Device | undefined): Device {
  const kept = before?.secretDigest ?? (before?.secret === undefined ? undefined : secretDigest(before.secret))
  return { ...device, secretDigest: secret === undefined ? kept : secretDigest(secret) }
}

/** What `GET /admin/devices/{id}` answers beside the entry. */
const READ_ONLY: ReadonlySet<string> = new Set([
  'id',
  'configured',
  'source',
  'held',
  'lane',
  'state',
  'last_heard',
  'connection',
  'last_fix',
  'last_filtered',
])
