import { parseId, Refusal } from '../refusal.ts'
import type { Access } from './access.ts'

/** A request below /companies/{company_id}. */
interface CompanyRequest {
  readonly params: { readonly company_id: string }
  readonly headers: { readonly authorization?: string }
}

/**
 * Lets a request pass whose OAuth token belongs to the company of its path.
 * @throws Refusal 401 without a known token; 403 where it is another company's, or there is no such company.
 */
export function authorizeCompany(access: Access, { params, headers }: CompanyRequest): void {
  const token = OAUTH.exec(headers.authorization ?? '')?.[1]
  if (token === undefined) throw new Refusal(401, 'the header "Authorization: OAuth <token>" is needed')
  const companies = access.companiesOfToken(token)
  if (companies.size === 0) throw new Refusal(401, 'the OAuth token is not known')
  const companyId = parseId(params.company_id, 'company_id')
  if (!companies.has(companyId)) throw new Refusal(403, `the OAuth token gives no access to company ${companyId}`)
}

const OAUTH = /^OAuth +(\S+) *$/i
