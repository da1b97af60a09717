import type { DatabaseSync } from 'node:sqlite'
import { ApiRefusal } from '../../http/refusal.ts'
import { checkedBody, type ServedOperation, type ServedRequest } from '../../tracking/operations.ts'
import { parseId } from '../../tracking/parameters.ts'
import type { Access, Provisioning } from '../../tracking/provisioning.ts'
import { PushPositions } from '../../tracking/schemas.ts'
import { prepareAll, transact } from './database.ts'
import type { PositionStore } from './positions.ts'

/** The couriers that drive, or once drove, the routes of each company; ids as exact decimal digits. */
export class LaneStore {
  readonly #database
  readonly #sql

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#sql = prepareAll(database, LANE_SQL)
  }

  /** Adds lanes; if the provisioning is exhaustive, removes all others. They are on disk when it returns. */
  provision({ routes, exhaustive }: Pick<Provisioning, 'routes' | 'exhaustive'>): void {
    transact(this.#database, () => {
      if (exhaustive) this.#database.exec('DELETE FROM lanes')
      for (const { company_id, courier_id, route_id } of routes)
        this.#sql.insert.run(BigInt(courier_id), BigInt(company_id), BigInt(route_id))
    })
  }

  has(companyId: string, courierId: string, routeId: string): boolean {
    return this.#sql.select.get(BigInt(courierId), BigInt(companyId), BigInt(routeId)) !== undefined
  }

  /** Returns the companies that the courier drives, or once drove, for; none for an unknown courier. */
  companiesOfCourier(courierId: string): string[] {
    return this.#sql.companies.all(BigInt(courierId)).map(({ company_id }) => String(company_id))
  }
}

export interface PushSources {
  readonly access: Access
  readonly lanes: LaneStore
  readonly positions: PositionStore
  /** Resolves once the lanes are up to date; awaited before a courier or a route counts as unknown. */
  readonly catchUp?: () => Promise<void>
}

/** §4.3. Answers once the positions are on disk. */
export function pushPositions({ access, lanes, positions, catchUp }: PushSources): ServedOperation {
  function find({ params, query }: ServedRequest) {
    const companies = access.companiesOfApikey(query.apikey)
    const courier = parseId(params.courier_id, 'courier_id')
    const route = parseId(params.route_id, 'route_id')
    return { companies, courier, route, company: companies.values().find((id) => lanes.has(id, courier, route)) }
  }

  function refuse({ companies, courier, route }: ReturnType<typeof find>): never {
    const employers = lanes.companiesOfCourier(courier)
    if (employers.length === 0) throw new ApiRefusal(404, `there is no courier ${courier}`)
    if (!employers.some((company) => companies.has(company)))
      throw new ApiRefusal(403, `the apikey gives no access to courier ${courier}`)
    throw new ApiRefusal(404, `courier ${courier} has no route ${route}`)
  }

  return async (request) => {
    let lane = find(request)
    if (lane.company === undefined) {
      await catchUp?.()
      lane = find(request)
    }
    const { courier, route, company = refuse(lane) } = lane
    const body = await checkedBody(request, PushPositions)
    await positions.append([company, route, courier], body.positions)
    return {}
  }
}

const LANE_SQL = {
  insert: 'INSERT INTO lanes (courier_id, company_id, route_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  select: 'SELECT 1 FROM lanes WHERE courier_id = ? AND company_id = ? AND route_id = ?',
  companies: 'SELECT DISTINCT company_id FROM lanes WHERE courier_id = ?',
}
