import type { DatabaseSync } from 'node:sqlite'
import type { Provisioning } from '../provisioning.ts'

/** Which couriers drive, or once drove, which routes of which companies; ids as exact decimal digits. */
export interface LaneStore {
  /** Adds lanes to those that there are, or puts them in their place where they are all; on disk when it returns. */
  provision(provisioning: Pick<Provisioning, 'routes' | 'exhaustive'>): void
  has(companyId: string, courierId: string, routeId: string): boolean
  /** The companies that the courier drives, or once drove, for; none where there is no such courier. */
  companiesOfCourier(courierId: string): string[]
}

export function createLaneStore(database: DatabaseSync): LaneStore {
  const insert = database.prepare(
    'INSERT INTO lanes (courier_id, company_id, route_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const select = database.prepare('SELECT 1 FROM lanes WHERE courier_id = ? AND company_id = ? AND route_id = ?')
  const companies = database.prepare('SELECT DISTINCT company_id FROM lanes WHERE courier_id = ?')
  companies.setReadBigInts(true)

  function provision({ routes, exhaustive }: Pick<Provisioning, 'routes' | 'exhaustive'>): void {
    database.exec('BEGIN IMMEDIATE')
    try {
      if (exhaustive) database.exec('DELETE FROM lanes')
      for (const { company_id, courier_id, route_id } of routes)
        insert.run(BigInt(courier_id), BigInt(company_id), BigInt(route_id))
      database.exec('COMMIT')
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }

  return {
    provision,
    has: (companyId, courierId, routeId) =>
      select.get(BigInt(courierId), BigInt(companyId), BigInt(routeId)) !== undefined,
    companiesOfCourier: (courierId) => companies.all(BigInt(courierId)).map(({ company_id }) => String(company_id)),
  }
}
