import type { OidcConfig } from '../../config/admin.ts'
import type { Caller } from '../access.ts'
import { EVERYTHING, Scope } from '../scope.ts'

/**
 * Returns what a person in these groups may do: the strongest role among the groups, for the companies of the groups with
 * this role. So a person never gets more than one of the groups allows. Undefined: no group is listed.
 */
export function grantOf(
  groups: readonly string[],
  roles: OidcConfig['roles'],
): Pick<Caller, 'role' | 'scope'> | undefined {
  const listed = groups.filter((group) => Object.hasOwn(roles, group)).map((group) => roles[group])
  if (listed.length === 0) return undefined
  const role = listed.some((each) => each.role === 'operate') ? 'operate' : 'read'
  const companies = listed.filter((each) => each.role === role).map((each) => each.companies)
  return { role, scope: companies.includes(null) ? EVERYTHING : new Scope(companies.flatMap((ids) => ids ?? [])) }
}
