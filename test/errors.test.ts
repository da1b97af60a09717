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
    'attempt to write a readonly database; give this user the permission, or choose another data_dir',
  ],
  [
    "ATTACH '/nowhere/at/all' AS other",
    'unable to open database: /nowhere/at/all; give this user the permission, or choose another data_dir',
  ],
  ['SELECT 1 FROM none', 'no such table: none; restore it'],
])('databaseReason adds advice to what SQLite reports for %s', (sql, reason) => {
  expect(databaseReason(failing(sql), 'restore it')).toBe(reason)
})

it('databaseReason returns nothing for an error that is not from a database', () => {
  expect(databaseReason(new Error('disk'), 'restore it')).toBeUndefined()
})
