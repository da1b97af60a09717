import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { databaseReason } from '../src/errors.ts'

function failing(sql: string): unknown {
  const database = new DatabaseSync(':memory:')
  try {
    database.exec(sql)
    return undefined
  } catch (error) {
    return error
  } finally {
    database.close()
  }
}

it.each([
  ['PRAGMA max_page_count = 1; CREATE TABLE a (b)', 'database or disk is full; make room on the disk'],
  [
    'PRAGMA query_only = 1; CREATE TABLE a (b)',
    'attempt to write a readonly database; give this user a right to it, or choose another data_dir',
  ],
  [
    "ATTACH '/nowhere/at/all' AS other",
    'unable to open database: /nowhere/at/all; give this user a right to it, or choose another data_dir',
  ],
  ['SELECT 1 FROM none', 'no such table: none; restore it'],
])('what SQLite says of %s comes with what to do', (sql, reason) => {
  expect(databaseReason(failing(sql), 'restore it')).toBe(reason)
})

it('what is no fault of a database has no such reason', () => {
  expect(databaseReason(new Error('disk'), 'restore it')).toBeUndefined()
})
