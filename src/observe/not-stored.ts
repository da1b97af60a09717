import { metrics } from './metrics.ts'
import { observations } from './observations.ts'

/**
 * Why a frame is not stored. `misunderstood`: too many of its device are kept that were not understood; `flood`: its device
 * sends too much; `fault`: an error of ours.
 */
export type Obstacle = 'roster' | 'redis' | 'memory' | 'parked' | 'misunderstood' | 'flood' | 'fault'

/** Counts a frame that is not acknowledged because it could not be stored, and why. A flood is a finding of its own. */
export function noteNotStored(reason: Obstacle): void {
  metrics.notStored.inc({ reason })
  if (reason !== 'flood') observations.note('not_stored', { evidence: reason })
}
