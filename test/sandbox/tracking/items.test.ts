import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { idsOf, item, startCompany } from '../../support/tracking/company.ts'
import { MAX_ID } from '../../support/tracking/service.ts'

const { service, ask, contents } = await startCompany()
let lastOrder = 0

/** Returns the path of the items of an order that no other test uses. */
function newOrder(): string {
  return `/api/v1/companies/7/orders/${++lastOrder}/items`
}

function numbersOf(json: unknown): string[] {
  return (json as { results: { number: string }[] }).results.map(({ number }) => number)
}

it('answers added items as stored, and reads them in the order of the body', async () => {
  const items = newOrder()
  const added = await ask('POST', items, [item('B', { code: '40 12' }), item('A')])
  const [b, a] = idsOf(added)
  expect([added.status, added.text]).toEqual([
    200,
    `[{"id":${b},"number":"B","description":"Two chairs","price":"12.50","total_count":3,"undelivered_count":0,"code":"40 12"},` +
      `{"id":${a},"number":"A","description":"Two chairs","price":"12.50","total_count":3,"undelivered_count":0}]`,
  ])
  expect(a).toBeGreaterThan(b)
  expect((await ask('GET', items)).text).toBe(`{"results":${added.text}}`)
})

it('stores 64-bit counts, orders and companies exactly', async () => {
  const items = `/api/v1/companies/${MAX_ID}/orders/${MAX_ID}/items`
  const body = `[${JSON.stringify(item('A')).replace('"total_count":3', `"total_count":${MAX_ID}`)}]`
  const added = await ask('POST', items, body, 'token-max')
  expect(added.status).toBe(200)
  expect(added.text).toContain(`"total_count":${MAX_ID},`)
  expect((await ask('GET', items, undefined, 'token-max')).text).toContain(`"total_count":${MAX_ID},`)
  expect((await ask('GET', items.replace(/7\/items/, '6/items'), undefined, 'token-max')).status).toBe(404)
})

it('refuses a 64-bit count whose name has an escape', async () => {
  const body = JSON.stringify([item('A')]).replace('"total_count":3', `"total_coun\\u0074":${MAX_ID}`)
  expect(await ask('POST', newOrder(), body)).toMatchObject({
    status: 422,
    json: { errors: [{ path: '0.total_count' }] },
  })
})

it.each(['0', '12.50', '0.0001', '100000000000000000000000.0000'])('stores the price %s unchanged', async (price) => {
  const items = newOrder()
  await ask('POST', items, [item('A', { price })])
  expect((await ask('GET', items)).json).toMatchObject({ results: [{ price }] })
})

it.each(['', '.5', '1.', '01', '-1', '+1', '1e3', '1,5', ' 1', '1\n'])('refuses the price %j', async (price) => {
  expect(await ask('POST', newOrder(), [item('A', { price })])).toMatchObject({
    status: 422,
    json: { errors: [{ path: '0.price' }] },
  })
})

it('adds 1,000 items at once', async () => {
  const body = Array.from({ length: 1_000 }, (_, n) => item(`${n}`))
  const added = await ask('POST', newOrder(), body)
  expect([added.status, (added.json as unknown[]).length]).toEqual([200, 1_000])
})

it('accepts the same number in two orders and two companies', async () => {
  const items = newOrder()
  expect((await ask('POST', items, [item('A')])).status).toBe(200)
  expect((await ask('POST', newOrder(), [item('A')])).status).toBe(200)
  expect((await ask('POST', items.replace('/7/', '/8/'), [item('A')], 'token-8')).status).toBe(200)
  expect((await ask('DELETE', items)).status).toBe(200)
  expect(numbersOf((await ask('GET', items.replace('/7/', '/8/'), undefined, 'token-8')).json)).toEqual(['A'])
})

it('refused items create no order', async () => {
  const items = newOrder()
  expect((await ask('POST', items, [item('A'), item('A')])).status).toBe(422)
  expect(await ask('GET', items)).toMatchObject({
    status: 404,
    json: { message: 'company 7 has no order ' + lastOrder },
  })
})

it('refuses all items of a request if one number is taken', async () => {
  const items = newOrder()
  await ask('POST', items, [item('A'), item('B')])
  const before = contents()
  const answer = await ask('POST', items, [item('C'), item('B'), item('D'), item('A')])
  expect(answer.status).toBe(422)
  expect(answer.json).toEqual({
    message: '1.number: the order has an item of that number already',
    errors: ['1.number', '3.number'].map((path) => ({ path, message: expect.any(String) as unknown })),
  })
  expect(contents()).toBe(before)
})

it.each([
  ['a lone surrogate in a description', [item('A', { description: '\ud800' })], '0.description'],
  ['a lone surrogate in a code', [item('A', { code: '\udc00' })], '0.code'],
  ['a total_count of 2^63', JSON.stringify([item('A')]).replace(':3', ':9223372036854775808'), '0.total_count'],
  ['an object', item('A'), ''],
])('refuses items for %s', async (_, body, path) => {
  const before = contents()
  expect(await ask('POST', newOrder(), body)).toMatchObject({ status: 422, json: { errors: [{ path }] } })
  expect(contents()).toBe(before)
})

it('names at most 20 wrong fields of items', async () => {
  const body = Array.from({ length: 50 }, () => item('A'))
  expect((await ask('POST', newOrder(), body)).json).toMatchObject({ errors: { length: 20 } })
})

it('stores one item when several clients add the same number at once', async () => {
  const items = newOrder()
  const answers = await Promise.all(Array.from({ length: 16 }, (_, n) => ask('POST', items, [item(`${n}`), item('A')])))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 422)).toHaveLength(15)
  expect(numbersOf((await ask('GET', items)).json)).toEqual([`${statuses.indexOf(200)}`, 'A'])
})

it('stores all items when several clients add different numbers at once', async () => {
  const items = newOrder()
  const answers = await Promise.all(Array.from({ length: 16 }, (_, n) => ask('POST', items, [item(`${n}`)])))
  expect(new Set(answers.flatMap(idsOf)).size).toBe(16)
  expect(numbersOf((await ask('GET', items)).json)).toHaveLength(16)
})

describe('pages', () => {
  async function order(count: number) {
    const items = newOrder()
    await ask(
      'POST',
      items,
      Array.from({ length: count }, (_, n) => item(`${n}`)),
    )
    const page = async (query: string) => (await ask('GET', `${items}?${query}`)).json as Page
    return { items, page }
  }

  interface Page {
    readonly results: readonly { readonly id: number; readonly number: string }[]
    readonly next_page_token?: string
  }

  it('lists items in pages without gaps or repeats, and the last page has no token', async () => {
    const { page } = await order(250)
    const first = await page('')
    const second = await page(`page_token=${first.next_page_token}`)
    const third = await page(`max_results=100&page_token=${second.next_page_token}`)
    expect([first, second, third].map(({ results }) => results.length)).toEqual([100, 100, 50])
    expect([first, second, third].flatMap(numbersOf)).toEqual(Array.from({ length: 250 }, (_, n) => `${n}`))
    expect(third).not.toHaveProperty('next_page_token')
  })

  it('lists exactly one full page of items without a token', async () => {
    const { page } = await order(2)
    expect(await page('max_results=2')).toEqual({ results: [expect.anything(), expect.anything()] })
  })

  it('continues a list of items after a page whose last item was deleted', async () => {
    const { items, page } = await order(4)
    const first = await page('max_results=2')
    await ask('DELETE', `${items}/${first.results[1].id}`)
    await ask('POST', items, [item('new')])
    expect(numbersOf(await page(`page_token=${first.next_page_token}`))).toEqual(['2', '3', 'new'])
  })

  it('refuses the page token of another order', async () => {
    const [one, other] = [await order(2), await order(2)]
    const { next_page_token: token } = await one.page('max_results=1')
    for (const query of [`page_token=${token}=`, `page_token=${token}A`, 'page_token=', 'page_token=%F0%9F%9A%9A'])
      expect(await one.page(query), query).toMatchObject({ errors: [{ path: 'page_token' }] })
    expect(await other.page(`page_token=${token}`)).toMatchObject({ errors: [{ path: 'page_token' }] })
    expect(await one.page(`page_token=${token}&page_token=${token}`)).toMatchObject({
      errors: [{ path: 'page_token' }],
    })
  })
})

it('deletes one item, and answers 404 the second time', async () => {
  const items = newOrder()
  const [a, b] = idsOf(await ask('POST', items, [item('A'), item('B')]))
  const first = await ask('DELETE', `${items}/${a}`)
  expect([first.status, first.text]).toEqual([200, '{}'])
  expect(await ask('DELETE', `${items}/${a}`)).toMatchObject({
    status: 404,
    json: { message: `order ${lastOrder} has no item ${a}` },
  })
  expect((await ask('GET', items)).json).toMatchObject({ results: [{ id: b }] })
})

it('deletes no item of another order or company', async () => {
  const [one, other] = [newOrder(), newOrder()]
  const [first] = idsOf(await ask('POST', one, [item('A')]))
  await ask('POST', other, [item('A')])
  await ask('POST', one.replace('/7/', '/8/'), [item('A')], 'token-8')
  const before = contents()
  expect((await ask('DELETE', `${other}/${first}`)).status).toBe(404)
  expect((await ask('DELETE', `${one.replace('/7/', '/8/')}/${first}`, undefined, 'token-8')).status).toBe(404)
  expect(contents()).toBe(before)
})

it('keeps an order whose items were all deleted', async () => {
  const items = newOrder()
  await ask('POST', items, [item('A'), item('B')])
  for (let time = 0; time < 2; time++) {
    const deleted = await ask('DELETE', items)
    expect([deleted.status, deleted.text]).toEqual([200, '{}'])
    expect((await ask('GET', items)).text).toBe('{"results":[]}')
  }
})

it('gives a new id to an item that is added again after its deletion', async () => {
  const items = newOrder()
  const [first] = idsOf(await ask('POST', items, [item('A')]))
  await ask('DELETE', `${items}/${first}`)
  const [second] = idsOf(await ask('POST', items, [item('A')]))
  expect(second).toBeGreaterThan(first)
  expect((await ask('DELETE', `${items}/${first}`)).status).toBe(404)
})

it('gives new ids after a restart', async () => {
  const items = newOrder()
  const [first] = idsOf(await ask('POST', items, [item('A')]))
  await ask('DELETE', items)
  const again = await startCompany(service.databaseFile)
  expect(idsOf(await again.ask('POST', items, [item('A')]))[0]).toBeGreaterThan(first)
})

it('the service keeps ids beyond 2^53 exact in answers, paths and bodies', async () => {
  const items = newOrder()
  await ask('POST', items, [item('A')])
  const database = new DatabaseSync(service.databaseFile)
  database.exec("UPDATE sqlite_sequence SET seq = 9007199254740992 WHERE name = 'items'")
  database.close()
  const added = await ask('POST', items, [item('B'), item('C')])
  expect(added.text).toMatch(/"id":9007199254740993,.+"id":9007199254740994,/)
  const path = items.replace('/items', ':return')
  const returned = await ask('POST', path, '[{"item_id":9007199254740993,"undelivered_count":1}]')
  expect(returned.text).toMatch(/^\[\{"id":9007199254740993,"number":"B",/)
  expect((await ask('DELETE', `${items}/9007199254740993`)).status).toBe(200)
  expect(numbersOf((await ask('GET', items)).json)).toEqual(['A', 'C'])
})

describe('item texts without a limit in the interface', () => {
  const face = '\u{1f642}'

  it.each([
    ['code', face.repeat(1_000)],
    ['price', '1'.repeat(100)],
  ])('limits the length of the text %s of an item', async (field, text) => {
    const items = '/api/v1/companies/7/orders/901/items'
    expect((await ask('POST', items, [item(field, { [field]: text })])).json).toMatchObject([{ [field]: text }])
    const message = `1.${field}: expected at most ${Array.from(text).length} characters`
    const longer = text + Array.from(text)[0]
    expect(await ask('POST', items, [item(`${field} 1`), item(`${field} 2`, { [field]: longer })])).toMatchObject({
      status: 422,
      json: { message, errors: [{ path: `1.${field}` }] },
    })
  })

  it('limits the length of the comment of a return', async () => {
    const other = await startCompany()
    const [item_id] = idsOf(await other.ask('POST', '/api/v1/companies/7/orders/902/items', [item('A')]))
    const giveBack = (comment: string) =>
      other.ask('POST', '/companies/7/orders/902:return', [{ item_id, undelivered_count: 1, comment }])
    expect((await giveBack(face.repeat(10_000))).status).toBe(200)
    expect(await giveBack(face.repeat(10_001))).toMatchObject({
      status: 422,
      json: { message: '0.comment: expected at most 10000 characters' },
    })
  })
})
