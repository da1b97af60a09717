import { expect, it } from 'vitest'
import { MAX_DEPTH, UNCHECKED_BYTES } from '../../src/tracking/body.ts'
import { startCompany } from '../support/tracking/company.ts'
import { JSON_TYPE, LANE, path, position } from '../support/tracking/push.ts'

const { service } = await startCompany()
const PADDING = ' '.repeat(UNCHECKED_BYTES)
const DEEP = `the body is not JSON: it has more than ${MAX_DEPTH} levels`

function push(body: string) {
  return service.send(path(LANE), { method: 'POST', headers: JSON_TYPE, body })
}

/** A push of one position, with a field that nobody reads in front; that and the brace around it are a level each. */
function withField(json: string): string {
  return `{"a":${json},${JSON.stringify({ positions: [position({})] }).slice(1)}`
}

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels)
}

it.each([
  ['arrays', '['.repeat(4_000_000)],
  ['arrays that end', nested(2_000_000)],
  ['arrays with others between', '[[],'.repeat(1_000_000)],
  ['objects', '{"a":'.repeat(800_000)],
  ['both, with white space', '[\n{ "a" : '.repeat(400_000)],
  ['one more than there may be', PADDING + withField(nested(MAX_DEPTH))],
  ['those behind a text that ends in a backslash', PADDING + withField(`["\\\\",${nested(MAX_DEPTH)}]`)],
])('refuses a large body with too many levels: %s', async (_, body) => {
  expect(await push(body)).toMatchObject({ status: 422, json: { message: DEEP } })
})

it.each([
  ['as many as there may be', withField(nested(MAX_DEPTH - 1))],
  ['many that end', withField(`[${'[],{},'.repeat(MAX_DEPTH)}0]`)],
  ['brackets in a text', withField(JSON.stringify('[{'.repeat(MAX_DEPTH)))],
  ['quotation marks and backslashes in a text', withField(JSON.stringify('"\\"\\\\[{'.repeat(MAX_DEPTH)))],
])('reads a large body with %s', async (_, body) => {
  expect((await push(PADDING + body)).status).toBe(200)
})

it('reads a small body with any number of levels', async () => {
  expect((await push(withField(nested(UNCHECKED_BYTES / 4)))).status).toBe(200)
})
