/** Who may use the service, and which routes there are; ids as exact decimal digits. */
export interface Provisioning {
  readonly companies: readonly CompanyCredentials[]
  readonly routes: readonly RouteAssignment[]
  /** Whether there are no others: a route of before that is not among these takes no more positions. */
  readonly exhaustive?: boolean
}

export interface CompanyCredentials {
  readonly company_id: string
  readonly apikeys: readonly string[]
  readonly oauth_tokens: readonly string[]
}

/** One courier on one route of one company. */
export interface RouteAssignment {
  readonly route_id: string
  readonly courier_id: string
  readonly company_id: string
}

/** A company as the gateway's configuration has it. */
export interface ConfiguredCompany {
  readonly company_id: string
  readonly apikey: string
  readonly oauth_token?: string | null
}

/** Who drives what, as the gateway's directory has it. */
export interface ConfiguredLanes {
  lanes(): Iterable<{ readonly company: string; readonly courier: string; readonly route: string }>
}

/**
 * What the embedded service is told: the gateway's companies, and every company, courier and route that its directory
 * may send fixes to. A company without `oauth_token` can push, and nobody can read back what it pushed.
 */
export function provisioningOf(
  { companies }: { readonly companies: Iterable<ConfiguredCompany> },
  directory: ConfiguredLanes,
): Provisioning {
  return {
    companies: Array.from(companies, ({ company_id, apikey, oauth_token }) => ({
      company_id,
      apikeys: [apikey],
      oauth_tokens: oauth_token ? [oauth_token] : [],
    })),
    routes: Array.from(directory.lanes(), ({ company, courier, route }) => ({
      route_id: route,
      courier_id: courier,
      company_id: company,
    })),
  }
}
