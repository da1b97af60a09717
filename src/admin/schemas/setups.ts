import * as z from 'zod'

/**
 * How to point trackers of a protocol at this server. `ports`: where the gateway listens for it; empty: nowhere. `steps`:
 * each an SMS to the tracker, or a setting; the reader fills in `{host}`, `{port}`, `{apn}`, `{user}` and `{password}` (of
 * the APN), and texts in <>. Without steps, the vendor's document describes it. `manual`: that document.
 */
export const SetupJson = z.object({
  protocol: z.string(),
  devices: z.string(),
  ports: z.array(z.object({ transport: z.string(), port: z.int() })),
  by: z.enum(['sms', 'settings']).optional(),
  steps: z.array(z.string()).optional(),
  manual: z.string().optional(),
  note: z.string().optional(),
})
export type SetupJson = z.infer<typeof SetupJson>
