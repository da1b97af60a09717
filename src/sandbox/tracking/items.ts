import type { DatabaseSync } from 'node:sqlite'
import { ApiRefusal, type FieldError, parse, refuseFields } from '../../http/refusal.ts'
import { checkedBody, type ServedOperation, type ServedRequest } from '../../tracking/operations.ts'
import { parseId } from '../../tracking/parameters.ts'
import {
  boundedList,
  Id,
  ItemReturn,
  ItemsQuery,
  isOfLength,
  NewItem,
  NO_PAGE_TOKEN,
  withoutRepeats,
} from '../../tracking/schemas.ts'
import { type GroupCommit, prepareAll } from './database.ts'

/** The operations on the items of orders; their writes are on disk when they answer. */
export function itemOperations(database: DatabaseSync, commits: GroupCommit) {
  const sql = prepareAll(database, ITEM_SQL)

  /** @throws ApiRefusal 422 if any id of the path is invalid; 404 for an order that never had an item */
  function knownOrder(params: ServedRequest['params']): Order {
    for (const [name, id] of Object.entries(params)) parseId(id, name)
    const order = orderOf(params)
    if (sql.order.get(...order)) return order
    throw new ApiRefusal(404, `company ${params.company_id} has no order ${params.order_id}`)
  }

  /** Replaces an earlier return. */
  async function returnItems(request: ServedRequest) {
    const order = knownOrder(request.params)
    const returns = await checkedBody(request, LimitedReturns)
    const totalOf = (id: bigint) => sql.total.get(...order, id)?.total_count as bigint | undefined
    return commits.write(returns.length, () => {
      refuseAny(mistakesIn(returns, totalOf))
      return returns.map(({ item_id, undelivered_count, comment = null }) =>
        sql.return.get(BigInt(undelivered_count), comment, BigInt(item_id)),
      )
    })
  }

  return {
    /** An order begins with its first item. */
    async addItems(request) {
      const order = orderOf(request.params)
      const items = await checkedBody(request, LimitedItems)
      return commits.write(items.length, () => {
        const isTaken = ({ number }: NewItem) => sql.number.get(...order, number) !== undefined
        refuseAny(items.flatMap((item, n) => (isTaken(item) ? [{ path: `${n}.number`, message: TAKEN }] : [])))
        sql.addOrder.run(...order)
        return items.map(({ number, description, price, total_count, code = null }) =>
          sql.add.get(...order, number, description, price, BigInt(total_count), code),
        )
      })
    },
    listItems({ params, query }) {
      const order = knownOrder(params)
      const { max_results = DEFAULT_RESULTS, page_token } = parse(ItemsQuery, query)
      const after = page_token === undefined ? 0n : lastIdOf(page_token, params.order_id)
      const found = sql.page.all(...order, after, max_results + 1)
      if (found.length <= max_results) return { results: found }
      const results = found.slice(0, max_results)
      return { results, next_page_token: pageToken(params.order_id, results[max_results - 1].id as bigint) }
    },
    /** The order remains, without items. */
    async deleteItems({ params }) {
      const order = knownOrder(params)
      await commits.write(1, () => sql.deleteAll.run(...order))
      return {}
    },
    async deleteItem({ params }) {
      const order = knownOrder(params)
      const id = BigInt(params.item_id)
      if (await commits.write(1, () => sql.delete.run(...order, id).changes === 1n)) return {}
      throw new ApiRefusal(404, `order ${params.order_id} has no item ${id}`)
    },
    returnItems,
    returnItemsV1: returnItems,
  } satisfies Record<string, ServedOperation>
}

type Order = readonly [company: bigint, order: bigint]

function orderOf({ company_id, order_id }: ServedRequest['params']): Order {
  return [BigInt(company_id), BigInt(parseId(order_id, 'order_id'))]
}

/** The mistakes of a return. `totalOf`: how many of an item were ordered; undefined: it is of another order. */
function mistakesIn(returns: readonly ItemReturn[], totalOf: (id: bigint) => bigint | undefined): FieldError[] {
  return returns.flatMap(({ item_id, undelivered_count }, index) => {
    const id = BigInt(item_id)
    const total = totalOf(id)
    if (total === undefined) return { path: `${index}.item_id`, message: `the order has no item ${id}` }
    if (undelivered_count <= total) return []
    return { path: `${index}.undelivered_count`, message: `expected at most ${total}, as many as were ordered` }
  })
}

function refuseAny(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw refuseFields(422, errors)
}

/** Returns the token of a page's last item. The next page begins after it, whatever was added or deleted in between. */
function pageToken(orderId: string, itemId: string | bigint): string {
  return Buffer.from(`${orderId}/${itemId}`).toString('base64url')
}

function lastIdOf(token: string, orderId: string): bigint {
  const [, itemId] = Buffer.from(token, 'base64url').toString().split('/')
  if (Id.safeParse(itemId).success && pageToken(orderId, itemId) === token) return BigInt(itemId)
  throw refuseFields(422, [{ path: 'page_token', message: NO_PAGE_TOKEN }])
}

/** Most items in one request, so that others need not wait long. The interface lists no limit. */
export const MAX_ITEMS = 1_000

/** Most characters of an item's texts; the interface lists no limit for these. A page has 100 items. */
export const MAX_TEXTS = { code: 1_000, comment: 10_000, price: 100 } as const

function atMost(characters: number) {
  const isShort = (text = '') => isOfLength(text, 0, characters)
  return [isShort, `expected at most ${characters} characters`] as const
}

const LimitedItem = NewItem.extend({
  code: NewItem.shape.code.refine(...atMost(MAX_TEXTS.code)),
  price: NewItem.shape.price.refine(...atMost(MAX_TEXTS.price)),
})
const LimitedReturn = ItemReturn.extend({ comment: ItemReturn.shape.comment.refine(...atMost(MAX_TEXTS.comment)) })
const LimitedItems = withoutRepeats(boundedList(LimitedItem, 1, MAX_ITEMS), 'number')
const LimitedReturns = withoutRepeats(boundedList(LimitedReturn, 1, MAX_ITEMS), 'item_id')
const TAKEN = 'the order has an item of that number already'
const DEFAULT_RESULTS = 100
const COLUMNS = 'id, number, description, price, total_count, undelivered_count, code, comment'

export const ITEM_SQL = {
  order: 'SELECT 1 FROM orders WHERE company_id = ? AND order_id = ?',
  addOrder: 'INSERT INTO orders (company_id, order_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
  add: `
    INSERT INTO items (company_id, order_id, number, description, price, total_count, code) VALUES (?, ?, ?, ?, ?, ?, ?)
    RETURNING ${COLUMNS}`,
  number: 'SELECT 1 FROM items WHERE company_id = ? AND order_id = ? AND number = ?',
  page: `SELECT ${COLUMNS} FROM items WHERE company_id = ? AND order_id = ? AND id > ? ORDER BY id LIMIT ?`,
  delete: 'DELETE FROM items WHERE company_id = ? AND order_id = ? AND id = ?',
  deleteAll: 'DELETE FROM items WHERE company_id = ? AND order_id = ?',
  total: 'SELECT total_count FROM items WHERE company_id = ? AND order_id = ? AND id = ?',
  return: `UPDATE items SET undelivered_count = ?, comment = ? WHERE id = ? RETURNING ${COLUMNS}`,
}
