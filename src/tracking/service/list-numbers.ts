import { authorizeCompany } from './authorization.ts'
import type { ServedOperation } from './operation.ts'

/** §4.5. */
export const listNumbers: ServedOperation = {
  admit: authorizeCompany,
  answer: ({ numbers }, { params }) => numbers.list(params.company_id),
}
