import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { valid } from '../../support/tracking/openapi/arbitraries.ts'
import { document } from '../../support/tracking/openapi/document.ts'
import type { JsonObject } from '../../support/tracking/openapi/json.ts'
import { type Ask, checkSequences, done, known, refused } from '../../support/tracking/openapi/sequences.ts'
import { startService } from '../../support/tracking/service.ts'

interface Item extends JsonObject {
  readonly id: bigint
  readonly number: string
  readonly total_count: bigint
}

/** Model of an order. */
interface Order {
  items: Item[]
  lastId: bigint
  /** True after the first item. */
  exists: boolean
}

interface Return {
  /** Index of the item in the order. */
  readonly index: number
  readonly count: keyof typeof COUNTS
  readonly comment?: string
}

const ITEMS = '/api/v1/{company}/orders/5/items'
const COUNTS = {
  none: () => 0n,
  all: (total: bigint) => total,
  tooMany: (total: bigint) => total + 1n,
}

const NO_ITEM = { id: 0n, total_count: 0n }
const { NewItem } = document.components.schemas
const service = await startService()

const number = fc.constantFrom('A', 'a', 'É', 'é', 'e\u0301', '\u0000', ' ', '🚚', '1', '01')
const item = fc.tuple(valid(NewItem), number).map(([fields, name]) => ({ ...(fields as JsonObject), number: name }))
const oneReturn: fc.Arbitrary<Return> = fc.record(
  { index: fc.nat(3), count: fc.constantFrom('none', 'all', 'all', 'tooMany'), comment: fc.string({ unit: 'binary' }) },
  { requiredKeys: ['index', 'count'] },
)
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ add: fc.array(item, { minLength: 1, maxLength: 3 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      returns: fc.array(oneReturn, { minLength: 1, maxLength: 3 }),
      version: fc.constantFrom('', '/api/v1'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ pageSize: fc.integer({ min: 1, max: 3 }) }) },
  fc.record({ remove: fc.nat(4) }),
  fc.constant({ removeAll: true }),
)
const seen = new Set<string>()

it('an order has the items that were added and not deleted, in order, with their returns', async () => {
  await checkSequences(service, fc.array(step, { minLength: 5, maxLength: 20 }), async (steps, ask) => {
    const order: Order = { items: [], lastId: 0n, exists: false }
    for (const each of steps) {
      if ('add' in each) await add(order, ask, each.add)
      else if ('returns' in each) await giveBack(order, ask, each)
      else if ('pageSize' in each) await readPages(order, ask, each.pageSize)
      else if ('remove' in each) await remove(order, ask, each.remove)
      else await removeAll(order, ask)
    }
    await readPages(order, ask, 100)
  })
  const all = ['add 200', 'add 422', 'return 200', 'return 404', 'return 422', 'pages 2']
  expect(all.filter((name) => !seen.has(name))).toEqual([])
})

async function add(order: Order, ask: Ask, items: readonly JsonObject[]): Promise<void> {
  const answer = await ask('POST', ITEMS, items)
  seen.add(`add ${answer.status}`)
  const numbers = [...order.items, ...items].map(({ number: name }) => name)
  if (new Set(numbers).size < numbers.length) return expect(answer).toEqual(refused(422))
  const added = answer.json as unknown as Item[]
  const expected = items.map((each, n) => ({ ...known(each, NewItem), id: added[n].id, undelivered_count: 0n }))
  expect(answer).toEqual(done(expected))
  for (const { id } of added) {
    expect(id > order.lastId).toBe(true)
    order.lastId = id
  }
  order.items.push(...added)
  order.exists = true
}

async function giveBack(
  order: Order,
  ask: Ask,
  { returns, version }: { returns: readonly Return[]; version: string },
): Promise<void> {
  const sent = returns.map(({ index, count, ...rest }) => {
    const { id, total_count } = order.items[index] ?? NO_ITEM
    return { item_id: id, undelivered_count: COUNTS[count](total_count), ...rest }
  })
  const answer = await ask('POST', `${version}/{company}/orders/5:return`, sent)
  seen.add(`return ${answer.status}`)
  if (!order.exists) return expect(answer).toEqual(refused(404))
  const right = returns.every(({ index, count }) => order.items[index] && count !== 'tooMany')
  const once = new Set(returns.map(({ index }) => index)).size === returns.length
  if (!right || !once) return expect(answer).toEqual(refused(422))
  for (const { item_id, ...said } of sent)
    order.items = order.items.map((each) => (each.id === item_id ? returned(each, said) : each))
  expect(answer).toEqual(done(returns.map(({ index }) => order.items[index])))
}

/** Replaces the earlier returned counts and the comment. */
function returned(before: Item, said: JsonObject): Item {
  const { comment: _, ...rest } = before
  return { ...(rest as Item), ...said }
}

async function readPages({ items, exists }: Order, ask: Ask, size: number): Promise<void> {
  const first = `${ITEMS}?max_results=${size}`
  if (!exists) return expect(await ask('GET', first)).toEqual(refused(404))
  let path = first
  for (let from = 0; from === 0 || from < items.length; from += size) {
    const answer = await ask('GET', path)
    const { next_page_token: token } = answer.json as JsonObject
    const more = from + size < items.length && { next_page_token: token }
    expect(answer).toEqual(done({ results: items.slice(from, from + size), ...more }))
    seen.add(`pages ${from / size + 1}`)
    path = `${first}&page_token=${token as string}`
  }
}

async function remove(order: Order, ask: Ask, index: number): Promise<void> {
  const gone = order.items[index]
  const answer = await ask('DELETE', `${ITEMS}/${gone?.id ?? order.lastId + 1n}`)
  expect(answer).toEqual(gone ? done({}) : refused(404))
  order.items = order.items.filter((each) => each !== gone)
}

async function removeAll(order: Order, ask: Ask): Promise<void> {
  expect(await ask('DELETE', ITEMS)).toEqual(order.exists ? done({}) : refused(404))
  order.items = []
}
