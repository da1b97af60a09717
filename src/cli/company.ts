import { UserError } from '../errors.ts'
import { sameId } from '../roster/directory.ts'
import type { RouteRow } from '../roster/routes.ts'
import type { ListedDevice } from './answers.ts'
import { listText } from './words.ts'

/**
 * The company whose lines these are: that of their devices, and where none of those is known the only one that there is.
 * @throws UserError where there are several, or none
 */
export function companyOf(rows: readonly RouteRow[], devices: readonly ListedDevice[]): string {
  const all = companiesIn(devices, () => true)
  const meant = new Set(rows.flatMap(({ device }) => [device, sameId(device)]))
  const named = companiesIn(devices, ({ id, name }) => meant.has(sameId(id)) || (name !== undefined && meant.has(name)))
  const companies = named.length > 0 ? named : all
  if (companies.length === 1) return companies[0]
  const known = companies.length === 0 ? 'no device is configured yet' : `there are ${listText(companies)}`
  throw new UserError(`Say with --company whose routes these are: ${known}.`)
}

/** In order of their numbers. */
function companiesIn(devices: readonly ListedDevice[], isMeant: (device: ListedDevice) => boolean): string[] {
  const companies = new Set(devices.filter(isMeant).flatMap(({ company_id }) => company_id ?? []))
  return [...companies].toSorted((a, b) => Number(BigInt(a) - BigInt(b)))
}
