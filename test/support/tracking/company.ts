import { DatabaseSync } from 'node:sqlite'
import { exactJson } from '../../../src/tracking/body.ts'
import { type HttpAnswer, type HttpRequest, startService } from './service.ts'

const TABLES = ['positions', 'numbers', 'orders', 'items']

/** Everything that a service has stored, as text, for comparison. */
export function contents(databaseFile: string): string {
  const database = new DatabaseSync(databaseFile, { readOnly: true, readBigInts: true })
  const tables = TABLES.map((table) => database.prepare(`SELECT * FROM ${table}`).all())
  database.close()
  return exactJson(tables)
}

/** A service, and a function that sends requests as company 7 or with another token; it sends JSON, and text unchanged. */
export async function startCompany(databaseFile?: string) {
  const service = await startService({ databaseFile })
  const ask = (method: HttpRequest['method'], path: string, body?: unknown, token = 'token-7'): Promise<HttpAnswer> => {
    const headers = { authorization: `OAuth ${token}`, 'content-type': 'application/json' }
    const sent = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body)
    return service.send(path, { method, headers, body: sent })
  }
  return { service, ask, contents: () => contents(service.databaseFile) }
}

/** An item as sent. */
export function item(number: string, changes: object = {}): object {
  return { number, description: 'Two chairs', price: '12.50', total_count: 3, ...changes }
}

export function idsOf(answer: HttpAnswer): number[] {
  return (answer.json as { id: number }[]).map(({ id }) => id)
}
