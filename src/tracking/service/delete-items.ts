import { authorizeOrder } from './authorization.ts'
import { orderOf, type ServedOperation } from './operation.ts'

/** §4.5. The order stays, without items. */
export const deleteItems: ServedOperation = {
  admit: authorizeOrder,
  answer: async ({ items }, request) => {
    await items.deleteAll(orderOf(request))
    return {}
  },
}
