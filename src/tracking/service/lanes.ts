import type { DatabaseSync } from 'node:sqlite'
import type { RouteAssignment } from '../provisioning.ts'

/** Which couriers drive, or once drove, which routes of which companies; ids as exact decimal digits. */
export interface LaneStore {
  /** Adds lanes to those that there are; on disk when it returns. */
  add(routes: readonly RouteAssignment[]): void
  has(companyId: string, courierId: string, routeId: string): boolean
  /** The companies that the courier ever drove for; none where there is no such courier. */
  companiesOfCourier(courierId: string): string[]
}

export function createLaneStore(database: DatabaseSync): LaneStore {
  const insert = database.prepare(
    'INSERT INTO lanes (courier_id, company_id, route_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const select = database.prepare('SELECT 1 FROM lanes WHERE courier_id = ? AND company_id = ? AND route_id = ?')
  const companies = database.prepare('SELECT DISTINCT company_id FROM lanes WHERE courier_id = ?')
  companies.setReadBigInts(true)

  function add(routes: readonly RouteAssignment[]): void {
    database.exec('BEGIN IMMEDIATE')
    try {
      for (const { company_id, courier_id, route_id } of routes)
        insert.run(BigInt(courier_id), BigInt(company_id), BigInt(route_id))
      database.exec('COMMIT')
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }

  return {
    add,
    has: (companyId, courierId, routeId) =>
      select.get(BigInt(courierId), BigInt(companyId), BigInt(routeId)) !== undefined,
    companiesOfCourier: (courierId) => companies.all(BigInt(courierId)).map(({ company_id }) => String(company_id)),
  }
}
