import * as z from 'zod'
import type { Device } from '../../config/devices.ts'
import { type KnownNames, readDevice } from '../../config/fleet.ts'
import { child, type Mapping, textAt } from '../../config/node.ts'
import type { Mistake } from '../../config/problem.ts'
import { parseYaml } from '../../config/yaml.ts'
import { sameId } from '../../domain/ids.ts'
import { ApiRefusal, refuseFields } from '../../http/refusal.ts'
import { PUT_SOURCE } from '../../roster/assignment.ts'
import { withoutSecret } from '../../roster/device-entry.ts'
import type { Roster, RosterChange } from '../../roster/roster.ts'
import { isJson, jsonText, parseJson } from '../../tracking/body.ts'
import { Id } from '../../tracking/schemas.ts'
import type { Operation } from '../operation.ts'
import type { RosterInEffect, RosterWrites } from '../roster/writes.ts'
import { DeviceJson } from '../schemas/devices.ts'
import { each } from '../schemas/parts.ts'
import type { Scope } from '../scope.ts'
import { readRequestBody } from '../access.ts'

/**
 * `PUT /admin/devices/{id}`: configures a device and releases its held fixes. The body is its entry of devices.yaml as JSON,
 * or an answer of `GET`. A secret cannot be read back: it is kept if the body has none or `true`, and removed by `null` or
 * `false`; the same holds for the previous secret. `DELETE /admin/devices/{id}`: removes the entry.
 */
export function deviceEntryOperations(
  live: Pick<RosterInEffect, 'companies' | 'files'>,
  change: RosterWrites,
  get: Operation['handle'],
): Operation[] {
  const put: Operation['handle'] = async (request, reply, scope) => {
    const { id } = request.params as { id: string }
    const entry = entryOf(id, await readRequestBody(request, MAX_ENTRY_BYTES), request.headers['content-type'])
    await change(async (roster) => {
      refuseTaken([id, textAt(entry, 'name')], roster, scope)
      const companies = live.companies().filter(({ company_id }) => scope.sees(company_id))
      const companyIds = new Set(companies.map(({ company_id }) => company_id))
      const known = { companyIds, protocolNames: live.files()?.known.protocolNames }
      return { write: deviceWrite(id, deviceOf(id, entry, { roster, known })) }
    })
    return get(request, reply, scope)
  }

  const remove: Operation['handle'] = async (request, _reply, scope) => {
    const { id } = request.params as { id: string }
    await change(async (roster) => {
      const entry = roster.find(id)
      // It may be another company's since the request came.
      if (!entry || !scope.sees(entry.company_id)) throw new ApiRefusal(404, 'no device with this id is configured')
      return { write: deviceWrite(id) }
    })
    return { deleted: 1 }
  }

  return [
    {
      method: 'PUT',
      path: '/admin/devices/{id}',
      id: 'putDevice',
      summary: "Add or replace a device's entry; answers as getDevice",
      body: EntryJson,
      answer: DeviceJson,
      refusals: [409, 415, 422, 504],
      reads: 'positions',
      companies: 'filtered',
      handle: put,
    },
    {
      method: 'DELETE',
      path: '/admin/devices/{id}',
      id: 'deleteDevice',
      summary: 'Delete a device',
      answer: z.object({ deleted: z.literal(1) }),
      refusals: [404, 504],
      companies: 'by_device',
      handle: remove,
    },
  ]
}

/** The documented form of an entry. Ids may also be numbers. */
const EntryJson = z.looseObject({
  company_id: Id,
  name: z.string().optional(),
  ...each(Id.nullish(), 'courier_id', 'route_id'),
  ...each(z.string().nullish(), 'time_zone', 'model'),
  ...each(z.union([z.string(), z.boolean()]).nullish(), 'secret', 'previous_secret'),
  protocol: z.string().nullish(),
  ...each(z.union([z.string(), z.array(z.string())]).nullish(), 'transports', 'networks', 'client_certificate'),
  trial: z.enum(['on', 'off']).nullish(),
  feed: z.boolean().nullish(),
  settings: z.record(z.string(), z.unknown()).nullish(),
})

/**
 * @throws ApiRefusal 422 if the body is not a JSON object, repeats a key or names another device; 415 if it is not declared
 * as JSON
 */
function entryOf(id: string, bytes: Buffer, contentType: string | undefined): Mapping {
  if (!isJson(contentType)) throw new ApiRefusal(415, 'send the device as application/json')
  const text = jsonText(bytes)
  parseJson(text)
  // JSON is YAML, but for a carriage return between values; there ids have their digits, and keys may repeat.
  const { root, mistakes } = parseYaml(text.replaceAll('\r', ' '), { resolve: (scalar) => ({ text: scalar }) })
  if (mistakes.length > 0) throw entryRefusal(mistakes)
  if (root?.kind !== 'mapping') throw new ApiRefusal(422, 'expected an object with company_id')
  const named = child(root, 'id')
  if (named?.kind === 'leaf' && sameId(named.text ?? id) !== sameId(id))
    throw refuseFields(422, [{ path: 'id', message: 'another device than that of the path' }])
  return without(root, READ_ONLY)
}

/**
 * Ids and names are unique among all companies, because the lines of files name no company. @throws ApiRefusal 409 if one is
 * taken by a device that the caller may not see, without naming that device or its company
 */
function refuseTaken(texts: readonly (string | null | undefined)[], roster: Roster, scope: Scope): void {
  const others = texts.flatMap((text) => (text ? [roster.find(text) ?? [], roster.named(text)].flat() : []))
  if (others.every(({ company_id }) => scope.sees(company_id))) return
  throw new ApiRefusal(409, 'this id or name is taken: nothing is changed')
}

/** @param device undefined: the device is dropped */
function deviceWrite(id: string, device?: Device): RosterChange {
  return { devices: [[sameId(id), device]] }
}

/** The device that an entry makes. @throws ApiRefusal 422 with all that is wrong with it. */
function deviceOf(
  id: string,
  entry: Mapping,
  { roster, known }: { readonly roster: Roster; readonly known: KnownNames },
): Device {
  const before = roster.find(id)
  const [secret, previous] = SECRETS.map((key) => secretIn(entry, key))
  const old = SECRETS.filter((key) => secretIn(entry, key) !== 'new')
  const read = readDevice({ id: before?.id ?? id, entry: without(entry, new Set(old)) }, roster, known)
  if ('mistakes' in read) throw entryRefusal(read.mistakes)
  return {
    ...withoutSecret(read.device),
    source: PUT_SOURCE,
    ...(secret === 'kept' && { secretDigest: before?.secretDigest }),
    ...(previous === 'kept' && { previousSecretDigest: before?.previousSecretDigest }),
  }
}

/** The refusal of an entry for mistakes in it. */
export function entryRefusal(mistakes: readonly Pick<Mistake, 'key' | 'message'>[]): ApiRefusal {
  return refuseFields(
    422,
    mistakes.map(({ key = '', message }) => ({ path: key, message })),
  )
}

function without(entry: Mapping, keys: ReadonlySet<string>): Mapping {
  return { ...entry, entries: entry.entries.filter(({ key }) => !keys.has(key)) }
}

/** How an entry changes the earlier secret. `true` and `false` are what `GET` returns in place of the secret. */
function secretIn(entry: Mapping, key: string): 'kept' | 'dropped' | 'new' {
  const secret = child(entry, key)
  if (!secret) return 'kept'
  if (secret.kind !== 'leaf' || secret.quoted) return 'new'
  return secret.text === 'true' ? 'kept' : secret.text === null || secret.text === 'false' ? 'dropped' : 'new'
}

/** Fields that `GET /admin/devices/{id}` returns beside the entry. */
const READ_ONLY = new Set(Object.keys(DeviceJson.shape).filter((key) => !(key in EntryJson.shape)))
const SECRETS = ['secret', 'previous_secret'] as const
/** The largest entry: while its YAML is parsed, the process answers no other request. */
const MAX_ENTRY_BYTES = 65_536
