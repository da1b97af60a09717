import { setImmediate } from 'node:timers/promises'
import * as z from 'zod'
import { type MappingDescription, mappingText, MOST_MAPPINGS, readMapping } from '../../config/mappings.ts'
import { ApiRefusal, parse } from '../../http/refusal.ts'
import type { Store } from '../../store/index.ts'
import { deleteMapping, type SavedMapping, savedMappings, saveMapping } from '../../store/mappings.ts'
import { isJson, jsonText, parseJson } from '../../tracking/body.ts'
import { instant } from '../json.ts'
import type { Operation } from '../operation.ts'
import { entryRefusal } from '../device/entry.ts'
import { isObject } from '../list-body.ts'
import { closedQuery, Flag } from '../schemas/parts.ts'
import { DeletedJson } from '../schemas/lanes.ts'
import { MappingJson, MappingPutJson, type TriedJson, UnreadJson } from '../schemas/mappings.ts'
import { kindOfPayload, type UnreadPayload, unreadPayloads } from './payloads.ts'
import { proposeMapping } from './propose.ts'
import { readRequestBody } from '../access.ts'

/** What a mapping reads from a payload. */
interface PayloadReading {
  readonly device?: string
  readonly fixes: readonly PayloadFix[]
  /** Why there is none. */
  readonly error?: string
}

interface PayloadFix extends Readonly<Partial<Record<(typeof MEASURES)[number], number>>> {
  readonly device?: string
  /** ms UTC. */
  readonly time: number
  readonly latitude: number
  readonly longitude: number
  readonly valid: boolean
}

interface MappingInEffect {
  readonly name: string
  readonly source: MappingJson['source']
  readonly mapping: MappingDescription
  readonly text: Record<string, unknown>
  /** Of a saved one, ms UTC. */
  readonly at?: number
  readonly by?: string
}

/** Mappings as the process of the admin port knows them. */
export interface MappingSources {
  /** Those of mappings.yaml. */
  readonly ofFile: () => ReadonlyMap<string, MappingDescription>
  /** Reads a payload as gateways do. */
  readonly read: (mapping: MappingDescription, payload: UnreadPayload) => PayloadReading
}

/**
 * `GET /admin/mappings`: the mappings in effect, and each kind of JSON that no mapping fits, with a proposal. `PUT` tries a
 * mapping on kept payloads and saves it for all gateways with this Redis. A mapping of mappings.yaml can only be changed in
 * the file.
 */
export function mappingOperations(redis: Store, { ofFile, read }: MappingSources): Operation[] {
  const inEffect = async (): Promise<MappingInEffect[]> => [
    ...Array.from(ofFile(), ([name, mapping]) => ({
      name,
      source: 'mappings.yaml' as const,
      mapping,
      text: mappingText(mapping),
    })),
    ...Object.entries(await savedMappings(redis)).flatMap(([name, json]) => {
      const { at, by, mapping: text } = JSON.parse(json) as SavedMapping
      const known = readMapping(name, text)
      if (ofFile().has(name) || !('mapping' in known)) return []
      return [{ name, source: 'saved' as const, mapping: known.mapping, text: text as Record<string, unknown>, at, by }]
    }),
  ]
  const unread = async () => {
    const mappings = (await inEffect()).map(({ mapping }) => mapping)
    const isRead = (payload: UnreadPayload) => mappings.some((mapping) => read(mapping, payload).fixes.length > 0)
    const found: UnreadPayload[] = []
    for (const payload of await unreadPayloads(redis)) {
      // Many mappings that are tried on long JSON take a while.
      await setImmediate()
      if (!isRead(payload)) found.push(payload)
    }
    return found
  }
  return [
    {
      method: 'GET',
      path: '/admin/mappings',
      id: 'listMappings',
      summary: 'List the mappings of JSON that are in effect',
      answer: z.object({ results: z.array(MappingJson) }),
      async handle() {
        const all = (await inEffect()).toSorted((one, other) => (one.name < other.name ? -1 : 1))
        return {
          results: all.map(({ name, source, text, at, by }) => ({ name, source, mapping: text, at: instant(at), by })),
        }
      },
    },
    {
      method: 'GET',
      path: '/admin/mappings/unread',
      id: 'listUnreadJson',
      summary: 'List JSON that nobody understood, by kind, the latest first, each with a mapping that may fit',
      answer: z.object({ results: z.array(UnreadJson) }),
      reads: 'positions',
      async handle({ caller }) {
        const kinds = [...Map.groupBy(await unread(), kindOfPayload)].slice(0, MOST_KINDS)
        return {
          results: kinds.map(([kind, payloads]) => unreadJson(kind, payloads, caller?.role === 'operate')),
        }
      },
    },
    {
      method: 'PUT',
      path: '/admin/mappings/{name}',
      id: 'putMapping',
      summary: 'Try a mapping on the JSON that nobody understood, and save it for all gateways',
      query: PutQuery,
      body: z.record(z.string(), z.unknown()).meta({ description: 'A mapping as mappings.yaml has it, as JSON.' }),
      answer: MappingPutJson,
      refusals: [409, 415, 422],
      reads: 'positions',
      async handle(request) {
        const { name } = request.params as { name: string }
        const { dry_run, kind } = parse(PutQuery, request.query)
        const text = bodyOf(await readRequestBody(request, MAX_BODY_BYTES), request.headers['content-type'])
        const known = readMapping(name, text)
        if (!('mapping' in known)) throw entryRefusal(known.mistakes)
        const payloads = (await unreadPayloads(redis)).filter(
          (each) => kind === undefined || kindOfPayload(each) === kind,
        )
        const tried = triedJson(known.mapping, payloads, read)
        const answer = { name, mapping: text, tried }
        if (dry_run === 'true') return answer
        if (ofFile().has(name))
          throw new ApiRefusal(
            409,
            'a mapping of this name is in mappings.yaml: change it there, or choose another name',
          )
        const saved = await savedMappings(redis)
        if (!(name in saved) && Object.keys(saved).length >= MOST_MAPPINGS)
          throw new ApiRefusal(409, 'there are as many saved mappings as there may be: delete one')
        await saveMapping(redis, name, { mapping: text, at: Date.now(), by: request.caller?.label ?? '' })
        request.audit = { mapping: name, understood: tried.understood, payloads: tried.payloads }
        return answer
      },
    },
    {
      method: 'DELETE',
      path: '/admin/mappings/{name}',
      id: 'deleteMapping',
      summary: 'Delete a saved mapping',
      answer: DeletedJson,
      refusals: [404, 409],
      async handle(request) {
        const { name } = request.params as { name: string }
        if (!(await deleteMapping(redis, name))) {
          if (ofFile().has(name)) throw new ApiRefusal(409, 'this mapping is in mappings.yaml: delete it there')
          throw new ApiRefusal(404, 'no mapping of this name is saved')
        }
        request.audit = { mapping: name }
        return { deleted: 1 }
      },
    },
  ]
}

function unreadJson(kind: string, payloads: readonly UnreadPayload[], hasSample: boolean): UnreadJson {
  const [latest] = payloads
  const { at, protocol, text, transport } = latest
  return {
    kind,
    payloads: payloads.length,
    at: instant(at) ?? '',
    transport,
    protocol,
    sample: hasSample ? text.slice(0, MOST_SHOWN) : undefined,
    proposal: proposalFor(payloads),
  }
}

/** A mapping that may fit; it is tried when somebody looks at it. */
function proposalFor(payloads: readonly UnreadPayload[]): UnreadJson['proposal'] {
  const json = payloads.map((payload) => payload.json)
  const proposal = proposeMapping(json, payloads[0].device !== undefined)
  return proposal && { mapping: proposal.mapping, doubts: [...proposal.doubts] }
}

function triedJson(
  mapping: MappingDescription,
  payloads: readonly UnreadPayload[],
  read: MappingSources['read'],
): TriedJson {
  const readings = payloads.map((payload) => ({ at: payload.at, ...read(mapping, payload) }))
  return {
    payloads: payloads.length,
    understood: readings.filter(({ fixes }) => fixes.length > 0).length,
    results: readings.slice(0, MOST_RESULTS).map(({ at, device, fixes, error }) => ({
      at: instant(at) ?? '',
      device,
      count: fixes.length,
      fixes: fixes.slice(0, MOST_FIXES).map((fix) => ({
        device: fix.device,
        at: instant(fix.time),
        lat: fix.latitude,
        lon: fix.longitude,
        ...Object.fromEntries(MEASURES.map((key) => [key, fix[key]])),
        valid: fix.valid ? undefined : (false as const),
      })),
      error,
    })),
  }
}

/** The object of a body. @throws ApiRefusal 415, 422 */
function bodyOf(bytes: Buffer, contentType: string | undefined): Record<string, unknown> {
  if (!isJson(contentType)) throw new ApiRefusal(415, 'the body must be sent as application/json')
  const value = parseJson(jsonText(bytes))
  if (isObject(value)) return value
  throw new ApiRefusal(422, 'the body must be an object')
}

const PutQuery = closedQuery({
  dry_run: Flag,
  kind: z.string('expected one kind').optional().meta({ description: 'Tries it on the payloads of this kind alone.' }),
})

const MEASURES = ['speed', 'heading', 'altitude', 'accuracy', 'hdop', 'satellites'] as const
const MAX_BODY_BYTES = 65_536
const MOST_KINDS = 50
const MOST_SHOWN = 4096
const MOST_RESULTS = 20
const MOST_FIXES = 3
