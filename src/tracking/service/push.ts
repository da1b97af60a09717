import type { DatabaseSync } from 'node:sqlite'
import type { Provisioning } from '../provisioning.ts'
import { ApiRefusal, parseId } from '../refusal.ts'
import { PushPositions } from '../schemas.ts'
import type { Access } from './access.ts'
import { prepareAll } from './database.ts'
import { bodyOf, type ServedOperation, type ServedRequest } from './operation.ts'
import type { PositionStore } from './positions.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a push: the company of the lane, once it is admitted. */
    companyId: string
  }
}

/** Which couriers drive, or once drove, which routes of which companies; ids as exact decimal digits. */
export class LaneStore {
  readonly #database: DatabaseSync
  readonly #sql

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#sql = prepareAll(database, LANE_SQL)
  }

  /** Adds lanes; where the provisioning is exhaustive, it removes all others. They are on disk when it returns. */
  provision({ routes, exhaustive }: Pick<Provisioning, 'routes' | 'exhaustive'>): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      if (exhaustive) this.#database.exec('DELETE FROM lanes')
      for (const { company_id, courier_id, route_id } of routes)
        this.#sql.insert.run(BigInt(courier_id), BigInt(company_id), BigInt(route_id))
      this.#database.exec('COMMIT')
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  has(companyId: string, courierId: string, routeId: string): boolean {
    return this.#sql.select.get(BigInt(courierId), BigInt(companyId), BigInt(routeId)) !== undefined
  }

  /** The companies that the courier drives, or once drove, for; none for an unknown courier. */
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
  /** @throws ApiRefusal for all that can be refused before the body is read, except for an unknown lane */
  function companyOf(request: ServedRequest): string | undefined {
    const { companies, courierId, routeId } = laneOf(request)
    for (const company of companies) if (lanes.has(company, courierId, routeId)) return company
    return undefined
  }

  function refuseLane(request: ServedRequest): never {
    const { companies, courierId, routeId } = laneOf(request)
    const employers = lanes.companiesOfCourier(courierId)
    if (employers.length === 0) throw new ApiRefusal(404, `there is no courier ${courierId}`)
    if (!employers.some((company) => companies.has(company)))
      throw new ApiRefusal(403, `the apikey gives no access to courier ${courierId}`)
    throw new ApiRefusal(404, `courier ${courierId} has no route ${routeId}`)
  }

  function laneOf({ params, query }: ServedRequest) {
    return {
      companies: access.companiesOfApikey(query.apikey),
      courierId: parseId(params.courier_id, 'courier_id'),
      routeId: parseId(params.route_id, 'route_id'),
    }
  }

  return {
    admit: async (request) => {
      const known = companyOf(request)
      if (known === undefined) await catchUp?.()
      request.companyId = known ?? companyOf(request) ?? refuseLane(request)
    },
    answer: async (request) => {
      const { companyId, params } = request
      const body = await bodyOf(request, PushPositions)
      await positions.append({
        companyId,
        courierId: params.courier_id,
        routeId: params.route_id,
        positions: body.positions,
      })
      return {}
    },
  }
}

const LANE_SQL = {
  insert: 'INSERT INTO lanes (courier_id, company_id, route_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  select: 'SELECT 1 FROM lanes WHERE courier_id = ? AND company_id = ? AND route_id = ?',
  companies: 'SELECT DISTINCT company_id FROM lanes WHERE courier_id = ?',
}
