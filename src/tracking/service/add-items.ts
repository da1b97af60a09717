import { NewItems } from '../schemas.ts'
import { authorizeCompany } from './authorization.ts'
import { bodyOf, limited, orderOf, type ServedOperation } from './operation.ts'

/** §4.5. An order begins with its first item. */
export const addItems: ServedOperation = {
  admit: authorizeCompany,
  answer: async ({ items }, request) => {
    const order = orderOf(request)
    return items.add(order, await bodyOf(request, ITEMS))
  },
}

const ITEMS = limited(NewItems)
