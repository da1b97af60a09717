import { expect, it } from 'vitest'
import { startCompany } from '../../support/tracking/company.ts'
import { MAX_ID } from '../../support/tracking/service.ts'

const { ask, contents } = await startCompany()

function path(contractor: string, company = '7'): string {
  return `/api/v1/companies/${company}/numbers/${contractor}`
}

it('answers a contractor number as stored, and reads it back', async () => {
  const put = await ask('POST', path('1'), { name: 'Ant', number: '12-A' })
  expect([put.status, put.text]).toEqual([200, '{"id":1,"number":"12-A","name":"Ant"}'])
  expect((await ask('GET', path('1'))).text).toBe(put.text)
})

it('stores a contractor number under 64-bit ids exactly', async () => {
  const put = await ask('POST', path(MAX_ID, MAX_ID), { number: '1' }, 'token-max')
  expect([put.status, put.text]).toEqual([200, `{"id":${MAX_ID},"number":"1"}`])
  expect((await ask('GET', path(MAX_ID, MAX_ID), undefined, 'token-max')).text).toBe(put.text)
  expect((await ask('GET', path('9223372036854775806', MAX_ID), undefined, 'token-max')).status).toBe(404)
})

it('stores a contractor number of contractor 0', async () => {
  expect((await ask('POST', path('0'), { number: '1' })).text).toBe('{"id":0,"number":"1"}')
})

it('stores every character of a contractor number', async () => {
  const body = { number: ' \u0000"\\\u2028é ', name: '<b>🚚\r\n</b>' }
  await ask('POST', path('2'), body)
  expect((await ask('GET', path('2'))).json).toEqual({ id: 2, ...body })
})

it('removes the name of a contractor number that is put without one', async () => {
  await ask('POST', path('3'), { number: '1', name: 'Ant' })
  expect((await ask('POST', path('3'), { number: '1' })).text).toBe('{"id":3,"number":"1"}')
  expect((await ask('GET', path('3'))).text).toBe('{"id":3,"number":"1"}')
})

it('stores an empty name of a contractor number', async () => {
  expect((await ask('POST', path('4'), { number: '1', name: '' })).json).toEqual({ id: 4, number: '1', name: '' })
})

it('deletes a contractor number once', async () => {
  await ask('POST', path('5'), { number: '1' })
  const first = await ask('DELETE', path('5'))
  expect([first.status, first.text]).toEqual([200, '{}'])
  expect((await ask('DELETE', path('5'))).status).toBe(404)
  expect((await ask('GET', path('5'))).status).toBe(404)
})

it('keeps the contractor numbers of companies apart', async () => {
  await ask('POST', path('6'), { number: '7' })
  await ask('POST', path('6', '8'), { number: '8' }, 'token-8')
  expect((await ask('DELETE', path('6'))).status).toBe(200)
  expect((await ask('GET', path('6', '8'), undefined, 'token-8')).json).toEqual({ id: 6, number: '8' })
})

it.each(['GET', 'DELETE'] as const)('ignores the body of a %s of a contractor number', async (method) => {
  await ask('POST', path('7'), { number: '1' })
  expect((await ask(method, path('7'), '{')).status).toBe(200)
})

it('lists the contractor numbers of a company in order of id, exactly', async () => {
  const ids = ['9007199254740993', '10', '9007199254740992', '9', MAX_ID]
  for (const id of ids) await ask('POST', path(id, MAX_ID), { number: id }, 'token-max')
  const { status, text } = await ask('GET', `/api/v1/companies/${MAX_ID}/numbers`, undefined, 'token-max')
  const inOrder = ['9', '10', '9007199254740992', '9007199254740993', MAX_ID]
  expect(status).toBe(200)
  expect(text).toBe(`[${inOrder.map((id) => `{"id":${id},"number":"${id}"}`).join()}]`)
})

it('lists an empty array for a company without contractor numbers', async () => {
  await ask('DELETE', path('6', '8'), undefined, 'token-8')
  expect((await ask('GET', '/api/v1/companies/8/numbers', undefined, 'token-8')).text).toBe('[]')
})

it('keeps one of several contractor numbers that are put at once', async () => {
  const bodies = Array.from({ length: 32 }, (_, n) => ({ number: `${n}`, name: `Name ${n}` }))
  const answers = await Promise.all(bodies.map((body) => ask('POST', path('20'), body)))
  expect(answers.map(({ status, json }) => [status, json])).toEqual(bodies.map((body) => [200, { id: 20, ...body }]))
  const { json } = await ask('GET', path('20'))
  expect(bodies.map((body) => ({ id: 20, ...body }))).toContainEqual(json)
})

it('deletes a contractor number once when several clients delete it', async () => {
  await ask('POST', path('21'), { number: '1' })
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask('DELETE', path('21'))))
  const statuses = answers.map(({ status }) => status)
  expect([200, 404].map((status) => statuses.filter((each) => each === status).length)).toEqual([1, 7])
})

it.each([
  ['neither number nor name', '{}', 'number: '],
  ['an array', '[]', 'the body: expected an object with number'],
  ['no body', '', 'the body: expected an object with number'],
  ['malformed JSON', '{"number":', 'the body is not JSON: '],
  ['NaN', '{"number":NaN}', 'the body is not JSON: '],
  ['81 astral characters', { number: '🚚'.repeat(81) }, 'number: expected text of 1 to 80 characters'],
  ['81 astral characters in name', { number: '1', name: '🚚'.repeat(81) }, 'name: expected text of 0 to 80 characters'],
  ['a lone surrogate', '{"number":"\\udfff"}', 'number: expected text without lone surrogates'],
])('keeps the previous contractor number when a put is refused for %s', async (_, body, sentence) => {
  await ask('POST', path('30'), { number: '12-A', name: 'Ant' })
  const before = contents()
  const answer = await ask('POST', path('30'), body)
  expect(answer).toMatchObject({ status: 422, json: { message: expect.stringContaining(sentence) as unknown } })
  expect(contents()).toBe(before)
})

it('names both mistakes of a contractor number', async () => {
  const answer = await ask('POST', path('30'), { number: 5, name: 5 })
  expect(answer.json).toMatchObject({ errors: [{ path: 'number' }, { path: 'name' }] })
})
