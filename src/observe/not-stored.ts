import { metrics } from './metrics.ts'
import { observations } from './observations.ts'

/** Counts a frame that is not acknowledged because it could not be stored, and why. A flood is a finding of its own. */
export function noteNotStored(reason: 'roster' | 'memory' | 'parked' | 'redis' | 'flood' | 'fault'): void {
  metrics.notStored.inc({ reason })
  if (reason !== 'flood') observations.note('not_stored', { evidence: reason })
}
