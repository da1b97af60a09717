import { hash, randomBytes } from 'node:crypto'
import { ApiRefusal, refuseFields } from '../http/refusal.ts'
import type { ServedRequest } from './operations.ts'
import { parseId } from './parameters.ts'

/** The companies that may use the service, and the routes that exist; ids as exact decimal digits. */
export interface Provisioning {
  readonly companies: readonly CompanyCredentials[]
  /** Lanes: one courier on one route of one company each. */
  readonly routes: readonly { readonly route_id: string; readonly courier_id: string; readonly company_id: string }[]
  /** Whether these are all routes: a known route that is not among them accepts no more positions. */
  readonly exhaustive?: boolean
}

export interface CompanyCredentials {
  readonly company_id: string
  readonly apikeys: readonly string[]
  readonly oauth_tokens: readonly string[]
}

/**
 * Returns the provisioning of the embedded service: the gateway's companies, and the lanes of its roster. A company without
 * `oauth_token` can push, but nobody can read its positions back.
 */
export function provisioningOf(
  companies: Iterable<{
    readonly company_id: string
    readonly apikey: string | readonly string[]
    readonly oauth_token?: string | null
  }>,
  lanes: Iterable<{ readonly company: string; readonly courier: string; readonly route: string }>,
): Provisioning {
  return {
    companies: Array.from(companies, ({ company_id, apikey, oauth_token }) => {
      return { company_id, apikeys: [apikey].flat(), oauth_tokens: oauth_token ? [oauth_token] : [] }
    }),
    routes: Array.from(lanes, ({ company, courier, route }) => {
      return { route_id: route, courier_id: courier, company_id: company }
    }),
  }
}

/**
 * Finds the companies that a secret belongs to. The index has digests salted with random bytes: the time of a look-up depends
 * on digests that no caller can compute, and tells nothing about the secret.
 */
export class Access {
  readonly #salt = randomBytes(16).toString('hex')
  #apikeys: CompaniesByDigest = new Map()
  #tokens: CompaniesByDigest = new Map()

  replace(companies: readonly CompanyCredentials[]): void {
    this.#apikeys = this.#index(companies, 'apikeys')
    this.#tokens = this.#index(companies, 'oauth_tokens')
  }

  /**
   * Admits a request whose OAuth token belongs to the company in its path. @throws ApiRefusal 401 without a known token; 403
   * if it belongs to another company, or there is no such company
   */
  authorizeCompany({ params, headers }: ServedRequest): void {
    const token = OAUTH.exec(headers.authorization ?? '')?.[1]
    if (token === undefined) throw new ApiRefusal(401, 'the header "Authorization: OAuth <token>" is needed')
    const companies = this.#tokens.get(this.#digest(token))
    if (!companies) throw new ApiRefusal(401, 'the OAuth token is not known')
    const companyId = parseId(params.company_id, 'company_id')
    if (!companies.has(companyId)) throw new ApiRefusal(403, `the OAuth token gives no access to company ${companyId}`)
  }

  /** The companies of the apikey of a query. @throws ApiRefusal 422 without an apikey, 403 for an unknown one */
  companiesOfApikey(apikey: unknown): ReadonlySet<string> {
    if (typeof apikey !== 'string' || apikey === '')
      throw refuseFields(422, [{ path: 'apikey', message: 'this query parameter is needed, once' }])
    const companies = this.#apikeys.get(this.#digest(apikey))
    if (!companies) throw new ApiRefusal(403, 'the apikey is not known')
    return companies
  }

  #index(companies: readonly CompanyCredentials[], secrets: 'apikeys' | 'oauth_tokens'): CompaniesByDigest {
    const index = new Map<string, Set<string>>()
    for (const company of companies)
      for (const secret of company[secrets]) {
        const digest = this.#digest(secret)
        index.set(digest, (index.get(digest) ?? new Set()).add(company.company_id))
      }
    return index
  }

  #digest(secret: string): string {
    return hash('sha256', this.#salt + secret, 'base64')
  }
}

type CompaniesByDigest = ReadonlyMap<string, ReadonlySet<string>>

const OAUTH = /^OAuth +(\S+) *$/i
