import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { OPERATIONS, type OperationName } from '../../src/tracking/operations.ts'
import { ErrorBody } from '../../src/tracking/schemas.ts'
import { cells, type Harness, runCell, type Send } from '../support/tracking/cells.ts'
import { contents } from '../support/tracking/company.ts'
import { startService } from '../support/tracking/service.ts'

const service = await startService()
const impatient = await startService({ databaseFile: service.databaseFile, timeLimitMs: -1 })

const NAMES = Object.keys(OPERATIONS) as OperationName[]

function sender(to: typeof service): Send {
  return ({ method, path, headers, body, authorization = 'OAuth token-7' }) =>
    to.send(path, { method, headers: authorization ? { ...headers, authorization } : headers, body })
}

/** Data stored before the request of a cell. */
let before = ''

function watched(send: Send): Send {
  return (request) => {
    before = contents(service.databaseFile)
    return send(request)
  }
}

const harness: Harness = {
  send: watched(sender(service)),
  impatient: watched(sender(impatient)),
  service: sender(service),
}

describe('the table of answers', () => {
  it.each(cells.map((cell) => [cell.operation, cell.status, cell.title, cell] as const))(
    'the tracking service answers as the row of %s, %i: %s',
    async (operation, status, _, cell) => {
      const { answer, items } = await runCell(cell, harness)
      expect(answer.json, answer.text).toEqual(cell.json(items))
      expect(answer.status).toBe(status)
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
      const schema = status === 200 ? OPERATIONS[operation].answer : ErrorBody
      expect(schema.safeParse(answer.json).error).toBeUndefined()
      if (status !== 200) expect(contents(service.databaseFile)).toBe(before)
    },
  )
})

describe('src/tracking/README.md', () => {
  const fromTable = NAMES.flatMap((name) => [200, ...OPERATIONS[name].refusals].map((status) => pair(name, status)))

  it('the README lists each operation with its statuses', () => {
    expect(rowsOfReadme().toSorted()).toEqual(fromTable.toSorted())
  })

  it('the table has a row for each operation and status of the README, and no other', () => {
    const tested = new Set(cells.map(({ operation, status }) => pair(operation, status)))
    expect([...tested].toSorted()).toEqual(fromTable.toSorted())
  })
})

function pair(operation: OperationName, status: number | string): string {
  const { method, path } = OPERATIONS[operation]
  return `${method} ${path} ${status}`
}

function rowsOfReadme(): string[] {
  const text = readFileSync(join(import.meta.dirname, '../../src/tracking/README.md'), 'utf8')
  const rows = Array.from(text.matchAll(/^\| `(\w+ \S+)` \| ([\d ]+) \| .+ \|$/gm))
  return rows.flatMap(([, operation, statuses]) => statuses.split(' ').map((status) => `${operation} ${status}`))
}
