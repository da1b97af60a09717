import type { DatabaseSync } from 'node:sqlite'
import type { ContractorNumber, StoredContractorNumber } from '../schemas.ts'
import { prepareAll } from './database.ts'
import type { GroupCommit } from './group-commit.ts'

/** The contractor numbers of companies; ids as exact decimal digits. What is written is on disk when it resolves. */
export interface NumberStore {
  get(companyId: string, contractorId: string): StoredContractorNumber | undefined
  /** All of a company, ascending id. */
  list(companyId: string): StoredContractorNumber[]
  /** Adds or replaces it, name included. */
  put(companyId: string, contractorId: string, number: ContractorNumber): Promise<StoredContractorNumber>
  /** Whether it was there. */
  delete(companyId: string, contractorId: string): Promise<boolean>
}

const COLUMNS = 'contractor_company_id AS id, number, name'

/** How numbers are read and written. */
export const NUMBER_SQL = {
  get: `SELECT ${COLUMNS} FROM numbers WHERE company_id = ? AND contractor_company_id = ?`,
  list: `SELECT ${COLUMNS} FROM numbers WHERE company_id = ? ORDER BY contractor_company_id`,
  put: `
    INSERT INTO numbers (company_id, contractor_company_id, number, name) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET number = excluded.number, name = excluded.name RETURNING ${COLUMNS}`,
  delete: 'DELETE FROM numbers WHERE company_id = ? AND contractor_company_id = ?',
}

export function createNumberStore(database: DatabaseSync, commits: GroupCommit): NumberStore {
  const sql = prepareAll(database, NUMBER_SQL)
  return {
    get: (companyId, contractorId) => {
      const row = sql.get.get(BigInt(companyId), BigInt(contractorId))
      return row && numberOf(row)
    },
    list: (companyId) => sql.list.all(BigInt(companyId)).map(numberOf),
    put: (companyId, contractorId, { number, name = null }) =>
      commits.write(1, () => numberOf(sql.put.get(BigInt(companyId), BigInt(contractorId), number, name))),
    delete: (companyId, contractorId) =>
      commits.write(1, () => sql.delete.run(BigInt(companyId), BigInt(contractorId)).changes === 1n),
  }
}

function numberOf(row: unknown): StoredContractorNumber {
  const { id, number, name } = row as { id: bigint; number: string; name: string | null }
  return { id, number, name: name ?? undefined }
}
