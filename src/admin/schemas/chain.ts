import * as z from 'zod'
import { DeviceRowJson } from './devices.ts'
import { FindingJson, LinkName, LinkHealth } from './findings.ts'
import { Instant } from './parts.ts'

const ChainLinkJson = z.object({
  link: LinkName,
  state: LinkHealth,
  since_at: Instant.optional(),
  last_good_at: Instant.optional(),
  evidence: z.array(z.string()),
  finding: FindingJson.optional(),
})
export type ChainLinkJson = z.infer<typeof ChainLinkJson>

/** The seven links of a device, and the conclusion from them. */
export const ChainJson = z.object({
  device: DeviceRowJson,
  /** One sentence: where the device is, and the first broken link; each time in it has its UTC offset. */
  sentence: z.string(),
  broken: LinkName.nullable(),
  links: z.array(ChainLinkJson),
  findings: z.array(FindingJson),
  time_zone: z.string(),
})
export type ChainJson = z.infer<typeof ChainJson>
