import { metrics, type Obstacle } from './metrics.ts'
import { observations } from './observations.ts'

/** Counts a frame that is not acknowledged because it could not be stored, with the reason. A flood is also a finding. */
export function noteNotStored(reason: Obstacle): void {
  metrics.notStored.inc({ reason })
  if (reason !== 'flood') observations.note('not_stored', { evidence: reason })
}

/**
 * Measures, to the end of this process, how late it reacts. `name`: of the process, for findings. Node's own monitor loses a
 * delay that begins right after its reset.
 */
export function measureEventLoop(name: string): void {
  let reactedAt = performance.now()
  let reportedAt = reactedAt
  let longestMs = 0
  setInterval(() => {
    const now = performance.now()
    longestMs = Math.max(longestMs, now - reactedAt - REACTS_MS)
    reactedAt = now
    if (now - reportedAt < REPORTS_MS) return
    reportedAt = now
    metrics.eventLoopDelay.observe(longestMs / 1000)
    if (longestMs >= LATE_MS)
      observations.note('event_loop_delay', { subject: { process: name }, evidence: `${Math.round(longestMs)} ms` })
    longestMs = 0
  }, REACTS_MS).unref()
}

/** How often it looks whether it reacts in time. */
const REACTS_MS = 100
const REPORTS_MS = 1000
const LATE_MS = 500
