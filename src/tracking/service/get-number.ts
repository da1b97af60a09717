import { ApiRefusal, parseId } from '../refusal.ts'
import { authorizeCompany } from './authorization.ts'
import type { ServedOperation } from './operation.ts'

/** §4.1. */
export const getNumber: ServedOperation = {
  admit: authorizeCompany,
  answer: ({ numbers }, { params }) => {
    const contractorId = parseId(params.contractor_company_id, 'contractor_company_id')
    const number = numbers.get(params.company_id, contractorId)
    if (!number) throw new ApiRefusal(404, `company ${params.company_id} has no number of company ${contractorId}`)
    return number
  },
}
