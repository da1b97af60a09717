import type { AlertTestsJson } from '../admin/schemas/tests.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { read } from './client.ts'
import { printExact, printLines, table } from './output.ts'

/**
 * `waybridge alerts test`. @returns the exit code: 1 if a receiver does not accept the test, or there is none @throws
 * UserError
 */
export async function testAlertsCommand(options: AdminPortOptions & { readonly json?: boolean }): Promise<number> {
  const admin = await findAdminPort(options)
  const answer = await read<AlertTestsJson>(admin, { method: 'POST', path: '/admin/alerts/test', timeoutMs: TEST_MS })
  const { ok, results } = answer
  if (options.json) printExact([JSON.stringify(answer)])
  else if (results.length === 0) printLines(['No receiver is configured: add one under alerts in gateway.yaml.'])
  else printLines(table(HEAD, results.map(rowOf)))
  return ok && results.length > 0 ? 0 : 1
}

function rowOf({ receiver, format, ok, reason = '' }: AlertTestsJson['results'][number]): string[] {
  return [receiver, format, ok ? 'taken' : `not taken: ${reason}`]
}

const HEAD = ['receiver', 'format', 'test']
/** A webhook has ten seconds, a mail server ten for each step. */
const TEST_MS = 60_000
