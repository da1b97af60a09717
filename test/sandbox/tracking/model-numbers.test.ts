import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { valid } from '../../support/tracking/openapi/arbitraries.ts'
import { document } from '../../support/tracking/openapi/document.ts'
import type { Json, JsonObject } from '../../support/tracking/openapi/json.ts'
import { type Ask, checkSequences, done, known, refused, sortedBy } from '../../support/tracking/openapi/sequences.ts'
import { MAX_ID, startService } from '../../support/tracking/service.ts'

interface Step {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly id: string
  readonly body?: Json
}

const NUMBERS = '/api/v1/{company}/numbers'
const { ContractorNumber } = document.components.schemas
const service = await startService()

const id = fc.constantFrom('0', '9', '10', '9007199254740993', MAX_ID)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ method: fc.constant('POST'), id, body: valid(ContractorNumber) }),
  fc.record({ method: fc.constantFrom('GET', 'DELETE'), id }),
)

it('the service returns exactly the contractor numbers that were put last, in ascending order of id', () =>
  checkSequences(service, fc.array(step, { minLength: 5, maxLength: 20 }), async (steps, ask) => {
    const model = new Map<string, JsonObject>()
    for (const each of steps) await take(each, model, ask)
    expect(await ask('GET', NUMBERS)).toEqual(done(sortedBy('id', model.values())))
  }))

async function take({ method, id: contractor, body }: Step, model: Map<string, JsonObject>, ask: Ask): Promise<void> {
  if (body !== undefined) model.set(contractor, { id: BigInt(contractor), ...known(body, ContractorNumber) })
  const stored = model.get(contractor)
  if (method === 'DELETE') model.delete(contractor)
  const answer = await ask(method, `${NUMBERS}/${contractor}`, body)
  expect(answer).toEqual(stored ? done(method === 'DELETE' ? {} : stored) : refused(404))
}
