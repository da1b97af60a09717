import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { request } from 'undici'

/** Where the fixes are that the gateway has received, of `GET /admin/status`. */
export interface Status {
  readonly waiting: number
  readonly parked: number
  readonly held: number
  readonly filtered: number
  readonly delivered: number
}

/** Asks the admin port of a data folder; undefined where it does not answer. */
export async function readStatus(port: number, dataDir: string): Promise<Status | undefined> {
  try {
    const token = (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim()
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/admin/status`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const answer = (await body.json()) as { custody: Status }
    return statusCode === 200 ? answer.custody : undefined
  } catch {
    return undefined
  }
}

const TIMEOUT_MS = 2000
