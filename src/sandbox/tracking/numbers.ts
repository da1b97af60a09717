import type { DatabaseSync } from 'node:sqlite'
import { ApiRefusal } from '../../http/refusal.ts'
import { checkedBody, type ServedOperation, type ServedRequest } from '../../tracking/operations.ts'
import { parseId } from '../../tracking/parameters.ts'
import { ContractorNumber } from '../../tracking/schemas.ts'
import { type GroupCommit, prepareAll } from './database.ts'

/** The operations on the contractor numbers of companies; their writes are on disk when they answer. */
export function numberOperations(database: DatabaseSync, commits: GroupCommit) {
  const sql = prepareAll(database, NUMBER_SQL)
  return {
    getNumber({ params }) {
      return sql.get.get(...keyOf(params)) ?? refuseMissing(params)
    },
    /** Replaces the name too: a name that is not sent again is removed. */
    async putNumber(request) {
      const key = keyOf(request.params)
      const { number, name = null } = await checkedBody(request, ContractorNumber)
      return commits.write(1, () => sql.put.get(...key, number, name))
    },
    listNumbers({ params }) {
      return sql.list.all(BigInt(params.company_id))
    },
    async deleteNumber({ params }) {
      const key = keyOf(params)
      const isDeleted = await commits.write(1, () => sql.delete.run(...key).changes === 1n)
      return isDeleted ? {} : refuseMissing(params)
    },
  } satisfies Record<string, ServedOperation>
}

function keyOf({ company_id, contractor_company_id }: ServedRequest['params']): [company: bigint, contractor: bigint] {
  return [BigInt(company_id), BigInt(parseId(contractor_company_id, 'contractor_company_id'))]
}

function refuseMissing({ company_id, contractor_company_id }: ServedRequest['params']): never {
  throw new ApiRefusal(404, `company ${company_id} has no number of company ${contractor_company_id}`)
}

const COLUMNS = 'contractor_company_id AS id, number, name'

export const NUMBER_SQL = {
  get: `SELECT ${COLUMNS} FROM numbers WHERE company_id = ? AND contractor_company_id = ?`,
  list: `SELECT ${COLUMNS} FROM numbers WHERE company_id = ? ORDER BY contractor_company_id`,
  put: `
    INSERT INTO numbers (company_id, contractor_company_id, number, name) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET number = excluded.number, name = excluded.name RETURNING ${COLUMNS}`,
  delete: 'DELETE FROM numbers WHERE company_id = ? AND contractor_company_id = ?',
}
