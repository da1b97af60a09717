import { parse, refuseFields } from '../refusal.ts'
import { Id, ItemsQuery, NO_PAGE_TOKEN } from '../schemas.ts'
import { authorizeOrder } from './authorization.ts'
import type { Order } from './items.ts'
import { orderOf, type ServedOperation } from './operation.ts'

/** §4.5. */
export const listItems: ServedOperation = {
  admit: authorizeOrder,
  answer: ({ items }, request) => {
    const order = orderOf(request)
    const { max_results = DEFAULT_RESULTS, page_token } = parse(ItemsQuery, request.query)
    const after = page_token === undefined ? 0n : itemOf(page_token, order)
    const found = items.page(order, after, max_results + 1)
    if (found.length <= max_results) return { results: found }
    const results = found.slice(0, max_results)
    return { results, next_page_token: tokenOf(order, results[max_results - 1].id) }
  },
}

/** Names the last item of a page: the next page begins behind it, whatever was added or deleted meanwhile. */
function tokenOf({ orderId }: Order, itemId: string | number | bigint): string {
  return Buffer.from(`${orderId}/${itemId}`).toString('base64url')
}

function itemOf(token: string, order: Order): bigint {
  const [, itemId] = Buffer.from(token, 'base64url').toString().split('/')
  if (Id.safeParse(itemId).success && tokenOf(order, itemId) === token) return BigInt(itemId)
  throw refuseFields(422, [{ path: 'page_token', message: NO_PAGE_TOKEN }])
}

const DEFAULT_RESULTS = 100
