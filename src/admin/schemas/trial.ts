import * as z from 'zod'
import { Count, each, Instant } from './parts.ts'

/** Frames that came to a listener with an old server: those whose copy is stored or noted, and the others. */
export const TrialAccountJson = z.object(each(Count, 'seen', 'stored', 'missed'))

/**
 * The first answer of the old server that differs from ours: the frame and both answers, as hex, at most 64 bytes each; only
 * for tokens that may operate.
 */
const DifferenceJson = z.object({ at: Instant, ...each(z.string(), 'frame', 'ours', 'old') })

const TriedDeviceJson = z.object({
  device: z.string(),
  ...each(z.string().optional(), 'name', 'company_id'),
  configured: z.boolean(),
  protocol: z.string(),
  /** `not_understood`: frames that could not be read, or only in part. */
  ...each(Count, 'frames', 'not_understood', 'positions', 'answers_equal', 'answers_different'),
  first_difference: DifferenceJson.optional(),
  /**
   * `off`: waybridge answers the device from its next connection on; `feed`: it answers, and the old server still gets the
   * bytes.
   */
  trial: z.enum(['on', 'off']),
  feed: z.boolean(),
})
export type TriedDeviceJson = z.infer<typeof TriedDeviceJson>

export const TrialJson = z.object({
  verdict: z.string(),
  /** Whether a listener has an old server now. */
  running: z.boolean(),
  account: TrialAccountJson.optional().meta({ description: 'Of the whole system: absent for a token with companies.' }),
  /** At most 1,000, those that want a look first. */
  devices: z.array(TriedDeviceJson),
  /** Number of devices that are left out of the list. */
  left_out: Count,
})
export type TrialJson = z.infer<typeof TrialJson>
