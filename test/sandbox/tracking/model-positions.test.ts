import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { valid } from '../../support/tracking/openapi/arbitraries.ts'
import { document } from '../../support/tracking/openapi/document.ts'
import { type Json, type JsonObject, jsonText, parseExactly } from '../../support/tracking/openapi/json.ts'
import { checkSequences, done, LANE, sortedBy } from '../../support/tracking/openapi/sequences.ts'
import { MAX_ID, startService } from '../../support/tracking/service.ts'

interface Position extends JsonObject {
  readonly point: JsonObject
  readonly timestamp: bigint
}

const { Point, PositionV3 } = document.components.schemas
const service = await startService()

const start = fc.oneof(fc.bigInt(0n, BigInt(MAX_ID) - 5n), fc.constantFrom(0n, 2n ** 53n, BigInt(MAX_ID) - 5n))
const point = fc.oneof(fc.constantFrom<Json>({ lat: 0.1, lon: 0 }, { lat: -90, lon: 180 }), valid(Point))
const position = fc
  .tuple(valid(PositionV3), point, fc.bigInt(0n, 5n))
  .map(([fields, where, second]) => ({ ...(fields as JsonObject), point: where, timestamp: second }) as Position)
const pushes = fc.array(fc.array(position, { maxLength: 8 }), { minLength: 1, maxLength: 5 })

it('the service reads each position once, exactly, in order of timestamp, then of arrival', () =>
  checkSequences(service, fc.tuple(start, pushes), async ([from, bodies], ask) => {
    const pushed = bodies.map((body) => body.map((each) => ({ ...each, timestamp: from + each.timestamp })))
    for (const positions of pushed)
      expect(await ask('POST', `${LANE}/push-positions-v3?apikey=key`, { positions })).toEqual(done({}))
    const path = `/api/v2/{company}/routes/1/courier-positions?from=${from}&to=${from + 5n}`
    const { status, json } = await ask('GET', path)
    const read = (json as JsonObject[]).map(({ lat, lon, timestamp }) => ({ lat, lon, timestamp }))
    expect(done(read)).toEqual({ status, json: sortedBy('timestamp', once(pushed.flat())) })
  }))

/** Returns positions as they are read: the first one for each time and place. */
function once(positions: Position[]): JsonObject[] {
  const texts = positions.map(({ point: { lat, lon }, timestamp }) => jsonText({ lat, lon, timestamp }))
  return Array.from(new Set(texts), (text) => parseExactly(text) as JsonObject)
}
