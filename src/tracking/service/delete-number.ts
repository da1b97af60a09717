import { ApiRefusal, parseId } from '../refusal.ts'
import { authorizeCompany } from './authorization.ts'
import type { ServedOperation } from './operation.ts'

/** §4.5. */
export const deleteNumber: ServedOperation = {
  admit: authorizeCompany,
  answer: async ({ numbers }, { params }) => {
    const contractorId = parseId(params.contractor_company_id, 'contractor_company_id')
    if (await numbers.delete(params.company_id, contractorId)) return {}
    throw new ApiRefusal(404, `company ${params.company_id} has no number of company ${contractorId}`)
  },
}
