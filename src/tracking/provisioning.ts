/** The companies that may use the service, and the routes that exist; ids as exact decimal digits. */
export interface Provisioning {
  readonly companies: readonly CompanyCredentials[]
  /** Lanes: one courier on one route of one company each. */
  readonly routes: readonly { readonly route_id: string; readonly courier_id: string; readonly company_id: string }[]
  /** Whether these are all routes: a route that was known before and is not among them takes no more positions. */
  readonly exhaustive?: boolean
}

export interface CompanyCredentials {
  readonly company_id: string
  readonly apikeys: readonly string[]
  readonly oauth_tokens: readonly string[]
}

/**
 * The provisioning of the embedded service: the gateway's companies, and lanes that its roster may send fixes to. A company
 * without `oauth_token` can push, but nobody can read its positions back.
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
