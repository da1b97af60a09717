import * as z from 'zod'

/**
 * Result of a test for each receiver of alerts; `ok`: all receivers accepted it. `receiver`: its key in gateway.yaml and its
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
