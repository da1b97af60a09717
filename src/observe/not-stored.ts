import { metrics, type Obstacle } from './metrics.ts'
import { observations } from './observations.ts'

export type { Obstacle }

/** Counts a frame that is not acknowledged because it could not be stored, and why. A flood is a finding of its own. */
export function noteNotStored(reason: Obstacle): void {
  metrics.notStored.inc({ reason })
  if (reason !== 'flood') observations.note('not_stored', { evidence: reason })
}
