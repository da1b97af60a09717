import type { Speech } from './speak/index.ts'

/** A van of the simulation. */
export interface FleetVan {
  /** An IMEI that no real device has, or its last digits if its protocol has a shorter number. */
  readonly id: string
  readonly name: string
  readonly speech: Speech
}

/** Returns the vans 1 to n, which get the speeches in turn. Equal arguments give equal fleets. */
export function createFleet(count: number, speeches: readonly Speech[]): FleetVan[] {
  return Array.from({ length: count }, (_, index) => {
    const speech = speeches[index % speeches.length]
    return { id: imei(index + 1).slice(-(speech.idDigits ?? 15)), name: `Van ${index + 1}`, speech }
  })
}

/** The highest number of vans. */
export const MAX_VANS = 999_999

/** devices.yaml for a fleet: courier k drives van k on route 1000 + k; `hasRoutes`: default true. */
export function devicesYaml(fleet: readonly FleetVan[], companyId = '1', hasRoutes = true): string {
  const lines = fleet.map(({ id, name }, index) => {
    const route = hasRoutes ? `, route_id: ${ROUTES_FROM + index + 1}` : ''
    return `"${id}": { name: ${name}, company_id: ${companyId}, courier_id: ${index + 1}${route} }\n`
  })
  return lines.join('')
}

/** The route of van k is this number + k. */
export const ROUTES_FROM = 1000

/** An IMEI: an unassigned type allocation code, a serial number, the Luhn digit. */
function imei(serial: number): string {
  const digits = `35999900${String(serial).padStart(6, '0')}`
  const sum = Array.from(digits, Number).reduce((total, digit, index) => {
    const weighted = index % 2 === 0 ? digit : digit * 2
    return total + (weighted > 9 ? weighted - 9 : weighted)
  }, 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}
