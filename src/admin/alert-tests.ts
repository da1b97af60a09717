import type { FailedReceiver } from '../diagnose/facts.ts'
import type { WithTexts } from '../texts/language.ts'
import type { Operation } from './operation.ts'
import { AlertTestsJson } from './schemas/tests.ts'
import type { Scope } from './scope.ts'

/** Result of sending a test to one receiver. */
export type AlertTest = WithTexts<AlertTestsJson['results'][number]>

/** The receivers of alerts. */
export interface AlertReceivers {
  /** Those that fail. */
  failing(): readonly FailedReceiver[]
  /** Sends a test to each receiver that the scope sees. */
  test(scope: Scope): Promise<readonly AlertTest[]>
}

/** `POST /admin/alerts/test`: sends a test to each receiver of alerts that the caller sees. `receivers`: undefined until they are known. */
export function alertOperations(receivers: () => AlertReceivers | undefined): Operation[] {
  return [
    {
      method: 'POST',
      path: '/admin/alerts/test',
      id: 'testAlerts',
      summary: 'Send a test to each receiver of alerts',
      answer: AlertTestsJson,
      companies: 'filtered',
      async handle(request, _reply, scope) {
        const results = (await receivers()?.test(scope)) ?? []
        const failed = results.filter(({ ok }) => !ok).length
        request.audit = { tested: results.length, failed }
        return { ok: failed === 0, results }
      },
    },
  ]
}
