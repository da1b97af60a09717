import type { OidcConfig } from '../../config/admin.ts'
import type { Caller } from '../access.ts'
import { EVERYTHING, Scope } from '../scope.ts'

/**
 * What somebody in these groups may do: the strongest role that one of them has, for the companies of those that have it. So
 * nobody may do what none of their groups may. Undefined: no group is listed.
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
