import { metrics } from './metrics.ts'
import { observations } from './observations.ts'

/** Counts a frame that is not acknowledged because it could not be stored, and why. */
export function noteNotStored(reason: 'roster' | 'memory' | 'parked' | 'redis' | 'fault'): void {
  metrics.notStored.inc({ reason })
  observations.note('not_stored', { evidence: reason })
}
