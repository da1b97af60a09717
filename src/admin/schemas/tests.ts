import * as z from 'zod'

/** Results of the tests of each company; `ok`: no step failed. */
export const ApiTestsJson = z.object({
  ok: z.boolean(),
  results: z.array(
    z.object({
      company_id: z.string(),
      name: z.string().optional(),
      steps: z.array(
        z.object({
          step: z.enum(['dns', 'connection', 'tls', 'apikey', 'oauth_token', 'read', 'push', 'read_back']),
          state: z.enum(['ok', 'warning', 'failed', 'skipped']),
          seen: z.string(),
          action: z.string().optional(),
        }),
      ),
    }),
  ),
})
export type ApiTestsJson = z.infer<typeof ApiTestsJson>

/**
 * What became of a test that was sent to each receiver of alerts; `ok`: all took it. `receiver`: its key in gateway.yaml and its
 * host.
 */
export const AlertTestsJson = z.object({
  ok: z.boolean(),
  results: z.array(
    z.object({
      receiver: z.string(),
      format: z.enum(['waybridge', 'slack', 'teams', 'pagerduty', 'alertmanager', 'mail']),
      ok: z.boolean(),
      reason: z.string().optional(),
    }),
  ),
})
export type AlertTestsJson = z.infer<typeof AlertTestsJson>
