import * as z from 'zod'
import { Count, each, Instant } from './parts.ts'

/** A mapping as mappings.yaml has it. */
const MappingText = z.record(z.string(), z.unknown())

/** A mapping in effect. `source`: the file, which the admin port does not change, or `saved` through it. */
export const MappingJson = z.object({
  name: z.string(),
  source: z.enum(['mappings.yaml', 'saved']),
  mapping: MappingText,
  at: Instant.optional(),
  by: z.string().optional(),
})
export type MappingJson = z.infer<typeof MappingJson>

/**
 * JSON of one kind that no mapping fits. `sample`: the latest one, only for tokens with the role `operate`. `proposal`: a
 * mapping that may fit, and the keys whose values the JSON does not settle.
 */
export const UnreadJson = z.object({
  kind: z.string(),
  payloads: Count,
  at: Instant,
  transport: z.enum(['tcp', 'udp', 'http', 'mqtt']),
  protocol: z.string().optional(),
  sample: z.string().optional(),
  proposal: z.object({ mapping: MappingText, doubts: z.array(z.string()) }).optional(),
})
export type UnreadJson = z.infer<typeof UnreadJson>

/** What a mapping reads from the kept payloads: in how many it finds a position, and what it reads from the latest. */
export const TriedJson = z.object({
  payloads: Count,
  understood: Count,
  results: z.array(
    z.object({
      at: Instant,
      device: z.string().optional(),
      fixes: z.array(
        z.object({
          device: z.string().optional(),
          at: Instant.optional(),
          lat: z.number(),
          lon: z.number(),
          ...each(z.number().optional(), 'speed', 'heading', 'altitude', 'accuracy', 'hdop', 'satellites'),
          valid: z.literal(false).optional(),
        }),
      ),
      count: Count,
      error: z.string().optional(),
    }),
  ),
})
export type TriedJson = z.infer<typeof TriedJson>

/** A mapping that was saved, or with `dry_run=true` only tried. */
export const MappingPutJson = z.object({ name: z.string(), mapping: MappingText, tried: TriedJson })
export type MappingPutJson = z.infer<typeof MappingPutJson>
