import { hash, randomBytes } from 'node:crypto'
import type { Provisioning } from '../provisioning.ts'

/** Who may do what, from one provisioning. */
export interface Access {
  /** The companies that a secret belongs to; none where it is unknown. */
  companiesOfApikey(apikey: string): ReadonlySet<string>
  companiesOfToken(token: string): ReadonlySet<string>
  /** The companies that the courier drives for; undefined where there is no such courier. */
  companiesOfCourier(courierId: string): ReadonlySet<string> | undefined
  hasRoute(companyId: string, courierId: string, routeId: string): boolean
}

/**
 * Indexes a provisioning. Secrets are found by a digest salted with random bytes: how long a comparison takes says
 * something about digests that no caller can compute, nothing about the secret.
 */
export function createAccess({ companies, routes }: Provisioning): Access {
  const salt = randomBytes(16).toString('hex')
  const digest = (secret: string) => hash('sha256', salt + secret, 'base64')
  const owners = (secrets: 'apikeys' | 'oauth_tokens') =>
    setsBy(companies.flatMap((company) => company[secrets].map((secret) => [digest(secret), company.company_id])))
  const apikeys = owners('apikeys')
  const tokens = owners('oauth_tokens')
  const couriers = setsBy(routes.map((route) => [route.courier_id, route.company_id]))
  const lanes = new Set(routes.map((route) => lane(route.company_id, route.courier_id, route.route_id)))
  return {
    companiesOfApikey: (apikey) => apikeys.get(digest(apikey)) ?? NONE,
    companiesOfToken: (token) => tokens.get(digest(token)) ?? NONE,
    companiesOfCourier: (courierId) => couriers.get(courierId),
    hasRoute: (companyId, courierId, routeId) => lanes.has(lane(companyId, courierId, routeId)),
  }
}

function setsBy(pairs: string[][]): Map<string, Set<string>> {
  const sets = new Map<string, Set<string>>()
  for (const [key, value] of pairs) {
    const set = sets.get(key)
    if (set) set.add(value)
    else sets.set(key, new Set([value]))
  }
  return sets
}

function lane(companyId: string, courierId: string, routeId: string): string {
  return `${companyId}/${courierId}/${routeId}`
}

const NONE: ReadonlySet<string> = new Set()
