import type { CompanyCredentials } from '../provisioning.ts'
import { ApiRefusal, parseId, refuseFields } from '../refusal.ts'
import type { ServedRequest } from './operation.ts'

/**
 * Finds the companies that a secret belongs to. A Map compares only texts of the same hash, and V8 hashes with a random seed:
 * the time that a look-up takes tells nothing about the secret.
 */
export class Access {
  #apikeys: CompaniesBySecret = new Map()
  #tokens: CompaniesBySecret = new Map()

  replace(companies: readonly CompanyCredentials[]): void {
    this.#apikeys = bySecret(companies, 'apikeys')
    this.#tokens = bySecret(companies, 'oauth_tokens')
  }

  /**
   * Admits a request whose OAuth token belongs to the company in its path.
   * @throws ApiRefusal 401 without a known token; 403 where it is another company's, or there is no such company
   */
  authorizeCompany({ params, headers }: ServedRequest): void {
    const token = OAUTH.exec(headers.authorization ?? '')?.[1]
    if (token === undefined) throw new ApiRefusal(401, 'the header "Authorization: OAuth <token>" is needed')
    const companies = this.#tokens.get(token)
    if (!companies) throw new ApiRefusal(401, 'the OAuth token is not known')
    const companyId = parseId(params.company_id, 'company_id')
    if (!companies.has(companyId)) throw new ApiRefusal(403, `the OAuth token gives no access to company ${companyId}`)
  }

  /** The companies that the apikey of a query belongs to. @throws ApiRefusal 422 without an apikey, 403 for an unknown one */
  companiesOfApikey(apikey: unknown): ReadonlySet<string> {
    if (typeof apikey !== 'string' || apikey === '')
      throw refuseFields(422, [{ path: 'apikey', message: 'this query parameter is needed, once' }])
    const companies = this.#apikeys.get(apikey)
    if (!companies) throw new ApiRefusal(403, 'the apikey is not known')
    return companies
  }
}

type CompaniesBySecret = ReadonlyMap<string, ReadonlySet<string>>

function bySecret(companies: readonly CompanyCredentials[], secrets: 'apikeys' | 'oauth_tokens'): CompaniesBySecret {
  const index = new Map<string, Set<string>>()
  for (const company of companies)
    for (const secret of company[secrets]) index.set(secret, (index.get(secret) ?? new Set()).add(company.company_id))
  return index
}

const OAUTH = /^OAuth +(\S+) *$/i
