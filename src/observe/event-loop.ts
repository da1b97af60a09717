import { monitorEventLoopDelay } from 'node:perf_hooks'
import { metrics } from './metrics.ts'
import { observations } from './observations.ts'

/** Watches, to the end of this process, how late it reacts. `name`: of the process, for findings. */
export function watchEventLoop(name: string): void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  const look = () => {
    const longestMs = Math.max(0, delays.max / 1e6 - RESOLUTION_MS)
    delays.reset()
    metrics.eventLoopDelay.observe(longestMs / 1000)
    if (longestMs < LATE_MS) return
    observations.note('event_loop_delay', { subject: { process: name }, evidence: `${Math.round(longestMs)} ms` })
  }
  // The monitor notes a delay that has just ended before an immediate runs, and forgets what it has not noted at a reset.
  setInterval(() => setImmediate(look), 1000).unref()
}

/** The monitor measures from one look to the next; they are so far apart. */
const RESOLUTION_MS = 50
const LATE_MS = 500
