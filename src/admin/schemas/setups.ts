import * as z from 'zod'

/**
 * How trackers of a protocol are pointed at this server. `ports`: where it is listened to; none: nowhere. `steps`: each an SMS to
 * the tracker, or a setting; `{host}`, `{port}`, `{apn}`, `{user}` and `{password}` (of the APN) are to be filled in, and what is in
 * <> besides. Without steps the vendor says how. `manual`: the document that says so.
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
