import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { ApiRefusal } from '../../../src/http/refusal.ts'
import { GroupCommit, openDatabase } from '../../../src/sandbox/tracking/database.ts'
import { temporaryFolder } from '../../support/tracking/service.ts'

const folder = temporaryFolder()
const opened: DatabaseSync[] = []
afterEach(() => {
  for (const database of opened.splice(0)) database.close()
})

function setUp(maxRows: number) {
  const file = join(folder, `${Math.random()}.sqlite`)
  const database = openDatabase(file)
  database.exec('CREATE TABLE written (value INTEGER)')
  const reader = new DatabaseSync(file, { readOnly: true })
  opened.push(database, reader)
  const insert = database.prepare('INSERT INTO written VALUES (?)')
  const values = () =>
    reader
      .prepare('SELECT value FROM written ORDER BY value')
      .all()
      .map(({ value }) => value)
  return { database, insert, values, commits: new GroupCommit(database, maxRows) }
}

it('a group commit resolves a write when another connection can read it', async () => {
  const { database, insert, values, commits } = setUp(10)
  let inside = false
  await commits.write(1, () => {
    inside = database.isTransaction
    insert.run(1)
  })
  expect([inside, values()]).toEqual([true, [1]])
})

it('a group commit puts waiting writes into one transaction, up to a limit of rows', async () => {
  const { insert, values, commits } = setUp(10)
  const seen: number[] = []
  const write = async (value: number, rows: number) => {
    await commits.write(rows, () => insert.run(value))
    seen.push(values().length)
  }
  await Promise.all([write(1, 4), write(2, 4), write(3, 4), write(4, 25), write(5, 1)])
  // 1 and 2 together; 3 alone, because 4 is too large for the rest; 4 alone; 5
  expect(seen).toEqual([2, 2, 3, 4, 5])
})

it('a group commit rejects and stores no write of a failed transaction, and continues', async () => {
  const { insert, values, commits } = setUp(2)
  const settled = await Promise.allSettled([
    commits.write(1, () => insert.run(1)),
    commits.write(1, () => {
      insert.run(2)
      throw new Error('disk')
    }),
    commits.write(1, () => insert.run(3)),
  ])
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  expect(values()).toEqual([3])
})

it('a group commit performs the waiting writes when it closes', async () => {
  const { database, insert, values, commits } = setUp(1)
  const written = [1, 2, 3].map((value) => commits.write(1, () => insert.run(value)))
  commits.close()
  expect(values()).toEqual([1, 2, 3])
  database.exec('PRAGMA query_only = 1')
  await Promise.all(written)
  await setImmediate()
})

it('a group commit resolves a write to its result', async () => {
  const { commits } = setUp(10)
  expect(await Promise.all([commits.write(1, () => 'written'), commits.write(1, () => 'tried')])).toEqual([
    'written',
    'tried',
  ])
})

it('a group commit rejects only the refused write of a transaction, and stores the others', async () => {
  const { insert, values, commits } = setUp(10)
  const refusal = new ApiRefusal(422, 'taken')
  const settled = await Promise.allSettled([
    commits.write(1, () => insert.run(1)),
    commits.write(2, () => {
      throw refusal
    }),
    commits.write(1, () => insert.run(4)),
  ])
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(settled[1]).toMatchObject({ reason: refusal })
  expect(values()).toEqual([1, 4])
})

it('a group commit rejects all writes of a failed transaction with its error, also refused ones', async () => {
  const { insert, values, commits } = setUp(10)
  const fault = new Error('disk')
  const settled = await Promise.allSettled([
    commits.write(1, () => insert.run(1)),
    commits.write(1, () => {
      throw new ApiRefusal(422, 'taken')
    }),
    commits.write(1, () => {
      throw fault
    }),
  ])
  expect(settled).toEqual([1, 2, 3].map(() => ({ status: 'rejected', reason: fault })))
  expect(values()).toEqual([])
  await commits.write(1, () => insert.run(2))
  expect(values()).toEqual([2])
})
