import { parseId } from '../refusal.ts'
import { ContractorNumber } from '../schemas.ts'
import { authorizeCompany } from './authorization.ts'
import { bodyOf, type ServedOperation } from './operation.ts'

/** §4.2. Replaces what was there: a name that is not sent again is gone. */
export const putNumber: ServedOperation = {
  admit: authorizeCompany,
  answer: async ({ numbers }, request) => {
    const contractorId = parseId(request.params.contractor_company_id, 'contractor_company_id')
    return numbers.put(request.params.company_id, contractorId, await bodyOf(request, ContractorNumber))
  },
}
