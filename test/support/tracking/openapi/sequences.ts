import * as fc from 'fast-check'
import { expect } from 'vitest'
import { type HttpRequest, MAX_ID, type startService } from '../service.ts'
import type { Schema } from './document.ts'
import { type Json, type JsonObject, jsonText, parseExactly } from './json.ts'
import { runs } from './runs.ts'

/** Sends a request of a sequence's company, whose id replaces `{company}` in paths. */
export type Ask = (method: HttpRequest['method'], path: string, body?: Json) => Promise<Answer>

export interface Answer {
  readonly status: number
  /** Every integer is a bigint. */
  readonly json: Json
}

type Service = Pick<Awaited<ReturnType<typeof startService>>, 'provision' | 'send'>

/** The path for the only courier and route of a sequence's company. */
export const LANE = '/api/v1/couriers/1/routes/1'

/** Runs sequences of requests, each as a company without data. */
export function checkSequences<T>(
  service: Service,
  steps: fc.Arbitrary<T>,
  run: (steps: T, ask: Ask) => Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(steps, (each) => run(each, newCompany(service)))
  return fc.assert(property, runs(50))
}

let companies = BigInt(MAX_ID)

function newCompany(service: Service): Ask {
  const company_id = String(companies--)
  service.provision({
    companies: [{ company_id, apikeys: ['key'], oauth_tokens: ['token'] }],
    routes: [{ company_id, courier_id: '1', route_id: '1' }],
  })
  const headers = { authorization: 'OAuth token', 'content-type': 'application/json' }
  return async (method, path, body) => {
    const request = { method, headers, ...(body !== undefined && { body: jsonText(body) }) }
    const { status, text } = await service.send(path.replace('{company}', `companies/${company_id}`), request)
    return { status, json: parseExactly(text) }
  }
}

/** Expects a 200 with that JSON. */
export function done(json: Json): Answer {
  return { status: 200, json }
}

/** Expects a refusal with a message. */
export function refused(status: number): unknown {
  return { status, json: expect.objectContaining({ message: expect.any(String) as unknown }) as unknown }
}

/** The fields of a value that the schema knows. */
export function known(value: Json, { properties = {} }: Schema): JsonObject {
  return Object.fromEntries(Object.entries(value as JsonObject).filter(([field]) => Object.hasOwn(properties, field)))
}

/** Sorts by a bigint field, ascending and stable. */
export function sortedBy(field: string, objects: Iterable<JsonObject>): JsonObject[] {
  return Array.from(objects).toSorted((a, b) => Number((a[field] as bigint) - (b[field] as bigint)))
}
