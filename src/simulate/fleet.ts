import type { Speech } from './speak/index.ts'

/** A van as the simulation has it. */
export interface FleetVan {
  /** An IMEI that no real device has. */
  readonly id: string
  readonly name: string
  readonly speech: Speech
}

/** The vans 1 to n, the ways of speaking dealt out among them in turn. The same for the same arguments. */
export function createFleet(count: number, speeches: readonly Speech[]): FleetVan[] {
  return Array.from({ length: count }, (_, index) => ({
    id: imei(index + 1),
    name: `Van ${index + 1}`,
    speech: speeches[index % speeches.length],
  }))
}

/** Most vans that there are numbers for. */
export const MAX_VANS = 999_999

/** devices.yaml for a fleet: van k is driven by courier k on route 1000 + k. */
export function devicesYaml(fleet: readonly FleetVan[], companyId = '1'): string {
  const lines = fleet.map(({ id, name }, index) => {
    const ids = `company_id: ${companyId}, courier_id: ${index + 1}, route_id: ${ROUTES_FROM + index + 1}`
    return `"${id}": { name: ${name}, ${ids} }\n`
  })
  return lines.join('')
}

/** Van k's route is so many more than k. */
export const ROUTES_FROM = 1000

/** A type allocation code that is nobody's, a serial number, Luhn's digit. */
function imei(serial: number): string {
  const digits = `35999900${String(serial).padStart(6, '0')}`
  const sum = Array.from(digits, Number).reduce((total, digit, index) => {
    const weighted = index % 2 === 0 ? digit : digit * 2
    return total + (weighted > 9 ? weighted - 9 : weighted)
  }, 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}
