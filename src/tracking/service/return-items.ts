import { ItemReturns } from '../schemas.ts'
import { authorizeOrder } from './authorization.ts'
import { bodyOf, limited, orderOf, type ServedOperation } from './operation.ts'

/** §4.5. */
export const returnItems: ServedOperation = {
  admit: authorizeOrder,
  answer: async ({ items }, request) => items.return(orderOf(request), await bodyOf(request, ITEMS)),
}

const ITEMS = limited(ItemReturns)
