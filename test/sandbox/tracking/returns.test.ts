import { expect, it } from 'vitest'
import { idsOf, item, startCompany } from '../../support/tracking/company.ts'
import { MAX_ID } from '../../support/tracking/service.ts'

const { ask, contents } = await startCompany()
let lastOrder = 0

/** Makes an order that no other test uses, with items A and B, three of each. */
async function newOrder(changes: object = {}) {
  const order = `/api/v1/companies/7/orders/${++lastOrder}`
  const added = await ask('POST', `${order}/items`, [item('A', changes), item('B', changes)])
  const giveBack = (body: unknown) => ask('POST', `${order}:return`, body)
  return { order, ids: idsOf(added), giveBack }
}

it.each(['', '/api/v1'])('answers a return under "%s" with the items in the order of the body', async (prefix) => {
  const { order, ids } = await newOrder()
  const body = [
    { item_id: ids[1], undelivered_count: 3 },
    { item_id: ids[0], undelivered_count: 1, comment: 'scratched 🪑' },
  ]
  const path = `${order.replace('/api/v1', prefix)}:return`
  const returned = await ask('POST', path, body)
  expect(returned.status).toBe(200)
  expect(returned.json).toEqual([
    { id: ids[1], ...item('B'), undelivered_count: 3 },
    { id: ids[0], ...item('A'), undelivered_count: 1, comment: 'scratched 🪑' },
  ])
  expect((await ask('GET', `${order}/items`)).json).toEqual({ results: (returned.json as object[]).toReversed() })
})

it('replaces an earlier return, its comment included', async () => {
  const { ids, giveBack } = await newOrder()
  await giveBack([{ item_id: ids[0], undelivered_count: 2, comment: 'scratched' }])
  const again = await giveBack([{ item_id: ids[0], undelivered_count: 0 }])
  expect(again.json).toEqual([{ id: ids[0], ...item('A'), undelivered_count: 0 }])
})

it('stores 64-bit counts of a return exactly', async () => {
  const order = `/api/v1/companies/7/orders/${MAX_ID}`
  const body = JSON.stringify([item('A')]).replace(':3', `:${MAX_ID}`)
  const [id] = idsOf(await ask('POST', `${order}/items`, body))
  const returned = await ask('POST', `${order}:return`, `[{"item_id":${id},"undelivered_count":${MAX_ID}}]`)
  expect(returned.text).toContain(`"total_count":${MAX_ID},"undelivered_count":${MAX_ID}}`)
})

it.each([
  ['more than was ordered', 1, { undelivered_count: 4 }, 'undelivered_count', 'at most 3'],
  ['a negative count', 1, { undelivered_count: -1 }, 'undelivered_count', 'from 0 to'],
  ['a count with a fraction', 1, { undelivered_count: 0.5 }, 'undelivered_count', 'integer'],
  ['a count in quotes', 1, { undelivered_count: '1' }, 'undelivered_count', 'integer'],
  ['no count', 1, { undelivered_count: undefined }, 'undelivered_count', 'integer'],
  ['an item of no order', 1, { item_id: 1_000_000 }, 'item_id', 'no item 1000000'],
  ['an item twice', 0, {}, 'item_id', 'twice'],
  ['a comment that is a number', 1, { comment: 5 }, 'comment', 'expected text'],
  ['a lone surrogate in a comment', 1, { comment: '\ud800' }, 'comment', 'lone surrogates'],
])('refuses a return for %s, names the place and changes no item', async (_, which, changes, field, words) => {
  const { ids, giveBack } = await newOrder()
  const before = contents()
  const answer = await giveBack([
    { item_id: ids[0], undelivered_count: 1, comment: 'good' },
    { item_id: ids[which], undelivered_count: 1, ...changes },
  ])
  const path = `1.${field}`
  expect(answer).toMatchObject({ status: 422, json: { errors: [{ path }] } })
  expect((answer.json as { message: string }).message).toMatch(new RegExp(`^${path}: .*${words}`))
  expect(contents()).toBe(before)
})

it('names all mistakes of a return', async () => {
  const { ids, giveBack } = await newOrder()
  const answer = await giveBack([
    { item_id: 1_000_000, undelivered_count: 1 },
    { item_id: ids[0], undelivered_count: 4 },
  ])
  expect(answer.json).toMatchObject({ errors: [{ path: '0.item_id' }, { path: '1.undelivered_count' }] })
})

it('refuses a return of an item of another order or company', async () => {
  const [one, other] = [await newOrder(), await newOrder()]
  const foreign = idsOf(await ask('POST', '/api/v1/companies/8/orders/1/items', [item('A')], 'token-8'))
  const before = contents()
  for (const item_id of [other.ids[0], foreign[0]]) {
    const answer = await one.giveBack([{ item_id, undelivered_count: 1 }])
    expect(answer).toMatchObject({ status: 422, json: { errors: [{ path: '0.item_id' }] } })
  }
  expect(contents()).toBe(before)
})

it('refuses a count beyond int64 in a return', async () => {
  const { ids, giveBack } = await newOrder()
  const answer = await giveBack(`[{"item_id":${ids[0]},"undelivered_count":9223372036854775808}]`)
  expect(answer).toMatchObject({ status: 422, json: { errors: [{ path: '0.undelivered_count' }] } })
})

it('answers a return for an unknown order 404, whatever the body', async () => {
  for (const body of ['', '{', '[]', ' '.repeat(5_000_000)])
    expect((await ask('POST', '/companies/7/orders/999999:return', body)).status).toBe(404)
})

it('answers a return for an order whose items were deleted 422', async () => {
  const { order, ids, giveBack } = await newOrder()
  await ask('DELETE', `${order}/items`)
  expect((await giveBack([{ item_id: ids[0], undelivered_count: 1 }])).status).toBe(422)
})

it('the service stores or refuses each of several simultaneous returns', async () => {
  const { order, ids, giveBack } = await newOrder()
  const counts = [1, 4, 2, 5, 3]
  const answers = await Promise.all(
    counts.map((count) => giveBack(ids.map((item_id) => ({ item_id, undelivered_count: count, comment: `${count}` })))),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 422, 200, 422, 200])
  const { results } = (await ask('GET', `${order}/items`)).json as { results: Record<string, unknown>[] }
  expect(results[0].comment).toBe(String(results[0].undelivered_count))
  expect([results[1].undelivered_count, results[1].comment]).toEqual([results[0].undelivered_count, results[0].comment])
})
