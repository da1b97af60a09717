import { ApiRefusal, parseId } from '../refusal.ts'
import { authorizeOrder } from './authorization.ts'
import { orderOf, type ServedOperation } from './operation.ts'

/** §4.5. */
export const deleteItem: ServedOperation = {
  admit: authorizeOrder,
  answer: async ({ items }, request) => {
    const order = orderOf(request)
    const itemId = parseId(request.params.item_id, 'item_id')
    if (await items.delete(order, itemId)) return {}
    throw new ApiRefusal(404, `order ${order.orderId} has no item ${itemId}`)
  },
}
