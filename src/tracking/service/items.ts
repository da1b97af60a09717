import type { DatabaseSync } from 'node:sqlite'
import { type FieldError, refuseFields } from '../refusal.ts'
import type { Item, ItemReturn, NewItem } from '../schemas.ts'
import { prepareAll } from './database.ts'
import type { GroupCommit } from './group-commit.ts'

/** Which order of which company; ids as exact decimal digits. */
export interface Order {
  readonly companyId: string
  readonly orderId: string
}

/** The items of orders. What is written is on disk when it resolves. */
export interface ItemStore {
  /** Whether the order ever had an item. */
  hasOrder(order: Order): boolean
  /** Adds items, and with the first ones the order. @throws ApiRefusal 422 where a number is taken; then none is stored */
  add(order: Order, items: readonly NewItem[]): Promise<Item[]>
  /** The next items behind the one with the id `after`, at most `count`, in the order in which they were added. */
  page(order: Order, after: bigint, count: number): Item[]
  /** Whether it was there. */
  delete(order: Order, itemId: string): Promise<boolean>
  deleteAll(order: Order): Promise<void>
  /** Says how many of items come back, in place of what was said before. @throws ApiRefusal 422; then nothing is stored */
  return(order: Order, returns: readonly ItemReturn[]): Promise<Item[]>
}

const COLUMNS = 'id, number, description, price, total_count, undelivered_count, code, comment'

/** How items are read and written. */
export const ITEM_SQL = {
  order: 'SELECT 1 FROM orders WHERE company_id = ? AND order_id = ?',
  addOrder: 'INSERT INTO orders (company_id, order_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
  add: `
    INSERT INTO items (company_id, order_id, number, description, price, total_count, code) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
  page: `SELECT ${COLUMNS} FROM items WHERE company_id = ? AND order_id = ? AND id > ? ORDER BY id LIMIT ?`,
  delete: 'DELETE FROM items WHERE company_id = ? AND order_id = ? AND id = ?',
  deleteAll: 'DELETE FROM items WHERE company_id = ? AND order_id = ?',
  total: 'SELECT total_count FROM items WHERE company_id = ? AND order_id = ? AND id = ?',
  return: `UPDATE items SET undelivered_count = ?, comment = ? WHERE id = ? RETURNING ${COLUMNS}`,
}

export function createItemStore(database: DatabaseSync, commits: GroupCommit): ItemStore {
  const sql = prepareAll(database, ITEM_SQL)

  function add(order: Order, items: readonly NewItem[]): Promise<Item[]> {
    const key = keyOf(order)
    return commits.attempt(items.length, () => {
      sql.addOrder.run(...key)
      const rows = items.map(({ number, description, price, total_count, code = null }) =>
        sql.add.get(...key, number, description, price, BigInt(total_count), code),
      )
      refuse(rows.flatMap((row, index) => (row ? [] : [{ path: `${index}.number`, message: TAKEN }])))
      return rows.map(itemOf)
    })
  }

  function giveBack(order: Order, returns: readonly ItemReturn[]): Promise<Item[]> {
    const key = keyOf(order)
    const totalOf = (id: bigint) => sql.total.get(...key, id)?.total_count as bigint | undefined
    return commits.attempt(returns.length, () => {
      refuse(mistakesIn(returns, totalOf))
      return returns.map(({ item_id, undelivered_count, comment = null }) =>
        itemOf(sql.return.get(BigInt(undelivered_count), comment, BigInt(item_id))),
      )
    })
  }

  return {
    hasOrder: (order) => sql.order.get(...keyOf(order)) !== undefined,
    add,
    page: (order, after, count) => sql.page.all(...keyOf(order), after, count).map(itemOf),
    delete: (order, itemId) => commits.write(1, () => sql.delete.run(...keyOf(order), BigInt(itemId)).changes === 1n),
    deleteAll: (order) => commits.write(1, () => void sql.deleteAll.run(...keyOf(order))),
    return: giveBack,
  }
}

function keyOf({ companyId, orderId }: Order): [company: bigint, order: bigint] {
  return [BigInt(companyId), BigInt(orderId)]
}

function itemOf(row: unknown): Item {
  const { code, comment, ...rest } = row as Item & { code: string | null; comment: string | null }
  return { ...rest, code: code ?? undefined, comment: comment ?? undefined }
}

/** What is wrong with a return; `totalOf` says how many of an item were ordered, undefined for an item of another order. */
function mistakesIn(returns: readonly ItemReturn[], totalOf: (id: bigint) => bigint | undefined): FieldError[] {
  return returns.flatMap(({ item_id, undelivered_count }, index) => {
    const id = BigInt(item_id)
    const total = totalOf(id)
    if (total === undefined) return { path: `${index}.item_id`, message: `the order has no item ${id}` }
    if (undelivered_count <= total) return []
    return { path: `${index}.undelivered_count`, message: `expected at most ${total}, as many as were ordered` }
  })
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw refuseFields(422, errors)
}

const TAKEN = 'the order has an item of that number already'
