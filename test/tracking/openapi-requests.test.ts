/*
 * Tests the service against its own document: valid, spoilt and arbitrary requests made from its schemas get
 * documented answers.
 */
import { DatabaseSync } from 'node:sqlite'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { changed, changes } from '../support/tracking/openapi/changes.ts'
import { answerSchema, compile, operations, type PlacedOperation } from '../support/tracking/openapi/document.ts'
import { drafts, given, nothingGiven, SEVEN } from '../support/tracking/openapi/drafts.ts'
import { type Parts, wire } from '../support/tracking/openapi/parts.ts'
import { runs } from '../support/tracking/openapi/runs.ts'
import { credentialSpoils, inputSpoils, spoilt } from '../support/tracking/openapi/spoils.ts'
import { SENTENCE } from '../support/tracking/sentence.ts'
import { type HttpAnswer, startService } from '../support/tracking/service.ts'

const service = await startService()
const named = operations.map((operation) => [operation.operationId, operation] as const)
const seen = new Set<string>()
const documented = operations.flatMap((operation) =>
  Object.keys(operation.responses).map((status) => ({ operation, status, name: `${operation.operationId} ${status}` })),
)
const fits = new Map(
  documented.map(({ operation, status, name }) => [name, compile(answerSchema(operation, status), { closed: true })]),
)

/** Checks that a refusal says what to change, also for each wrong field. */
function expectSentences(json: unknown): void {
  const { message, errors = [] } = json as { message: unknown; errors?: { message: unknown }[] }
  for (const text of [message, ...errors.map((error) => error.message)]) expect(text).toEqual(SENTENCE)
}

const database = new DatabaseSync(service.databaseFile, { readOnly: true })
afterAll(() => database.close())

/** Returns a number that changes with every commit that writes something. */
function version(): unknown {
  return database.prepare('PRAGMA data_version').get()?.data_version
}

/** Returns the answer to a request; checks that it is documented, and that a refusal has written nothing. */
async function ask(operation: PlacedOperation, parts: Parts): Promise<HttpAnswer> {
  const before = version()
  const answer = await service.send(...wire(operation, parts))
  const name = `${operation.operationId} ${answer.status}`
  const fit = fits.get(name)
  if (!fit) throw new Error(`not documented: ${name} ${answer.text}`)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(fit(answer.json) ? [] : fit.errors, answer.text).toEqual([])
  if (answer.status !== 200) {
    expectSentences(answer.json)
    expect(version()).toBe(before)
  }
  seen.add(name)
  return answer
}

function check<T>(arbitrary: fc.Arbitrary<T>, numRuns: number, predicate: (value: T) => Promise<void>): Promise<void> {
  return fc.assert(fc.asyncProperty(arbitrary, predicate), runs(numRuns))
}

describe.each(named)('%s', (name, operation) => {
  it('answers 200 to a valid request', () =>
    check(drafts(operation), 30, async (draft) => {
      const answer = await ask(operation, await given(service.send, operation, draft))
      expect(answer.status, answer.text).toBe(200)
    }))

  it('answers 401 or 403 to other credentials', () =>
    check(fc.tuple(drafts(operation), credentialSpoils(operation)), 25, async ([draft, { status, ...spoil }]) => {
      const parts = await given(service.send, operation, { ...draft, caller: SEVEN })
      const answer = await ask(operation, spoilt(parts, spoil))
      expect(answer.status, answer.text).toBe(status)
    }))

  it('refuses a request with one mistake, and names its place', () =>
    check(fc.tuple(drafts(operation), inputSpoils(operation)), 80, async ([draft, spoil]) => {
      const answer = await ask(operation, spoilt(await given(service.send, operation, draft), spoil))
      expect(answer.status, answer.text).toBe(spoil.query && name === 'courierPositions' ? 400 : 422)
      const { errors = [] } = answer.json as { errors?: { path: string }[] }
      if (spoil.field === null) expect(errors).toEqual([])
      else expect(errors.map(({ path }) => path)).toContain(spoil.field)
    }))

  it('answers any request as documented', () =>
    check(fc.tuple(drafts(operation), changes(operation)), 60, async ([draft, change]) => {
      await ask(operation, changed(await given(service.send, operation, draft), change))
    }))
})

describe.each(named.filter(([, { responses }]) => '404' in responses))('%s', (_, operation) => {
  it('answers 404 if there is no such object', () =>
    check(drafts(operation), 15, async (draft) => {
      const answer = await ask(operation, nothingGiven(operation, draft))
      expect(answer.status, answer.text).toBe(404)
    }))
})

describe('the OpenAPI document of the tracking service', () => {
  it('the tracking service answers with every documented status', () => {
    const missed = documented.map(({ name }) => name).filter((name) => !seen.has(name))
    // The tests of the operation itself cover the time limit.
    expect(missed).toEqual(['courierPositions 504'])
  })
})
