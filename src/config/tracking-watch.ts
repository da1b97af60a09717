import { isDeepStrictEqual } from 'node:util'
import { follow } from './follow.ts'
import { ConfigError } from './problem.ts'
import { fingerprintOf } from './text-file.ts'
import { readTracking, type TrackingConfig, type TrackingRead, trackingFile } from './tracking.ts'

/**
 * Follows tracking.yaml: `onChange` hears, within half a second of the file's change, of each that means something else than
 * the last, with `config` only where all of it is right. `start` is what is in effect already.
 */
export function watchTracking(
  dir: string,
  start: TrackingConfig,
  onChange: (change: TrackingRead) => void,
): { close(): Promise<void> } {
  let last: TrackingRead = { config: start, problems: [] }

  function take(read: TrackingRead): void {
    if (isDeepStrictEqual(read, last)) return
    last = read
    onChange(read)
  }

  return follow({
    print: () => fingerprintOf(trackingFile(dir)),
    changed: async () => {
      try {
        take((await readTracking(dir)) ?? gone(dir))
        return true
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        take({ problems: error.mistakes })
        return false
      }
    },
  })
}

function gone(dir: string): TrackingRead {
  const message = 'this file is gone: what it said stays in effect'
  return { problems: [{ severity: 'mistake', file: trackingFile(dir), message }] }
}
