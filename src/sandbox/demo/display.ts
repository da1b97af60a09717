import { setTimeout as pause } from 'node:timers/promises'
import type { Progress } from '../simulation.ts'
import { readCustody, type Status } from './account.ts'
import type { Screen, Second, View } from './view.ts'

/** Keeps the screen up to date, and the last answer of the admin port. */
export interface DemoDisplay {
  vans(progress: Progress): void
  phase(phase: View['phase']): void
  readonly status: Status | undefined
  /** Asks and shows one last time, then ends. */
  end(): Promise<void>
}

export interface DisplayOptions extends Pick<View, 'drivingMs' | 'fleet' | 'expected'> {
  readonly screen: Screen
  readonly adminPort: number
  readonly dataDir: string
}

/** Asks the admin port four times a second, from now on. */
export function startDisplay({ screen, adminPort, dataDir, ...fixed }: DisplayOptions): DemoDisplay {
  const begun = performance.now()
  const history: Second[] = []
  let phase: View['phase'] = 'driving'
  let progress: Progress | undefined
  let status: Status | undefined
  let counted = 0
  let over = false
  const watching = look()

  async function look(): Promise<void> {
    for (let last = false; !last; await pause(last ? 0 : LOOK_MS)) {
      last = over
      status = (await readCustody(adminPort, dataDir)) ?? status
      const elapsedMs = performance.now() - begun
      remember(elapsedMs)
      if (progress) screen.show({ ...fixed, phase, elapsedMs, progress, status, history })
    }
  }

  function remember(elapsedMs: number): void {
    if (!status || history.length >= Math.floor(elapsedMs / 1000)) return
    history.push({ delivered: status.delivered - counted, waiting: status.waiting })
    counted = status.delivered
  }

  return {
    vans: (now) => void (progress = now),
    phase: (now) => void (phase = now),
    get status() {
      return status
    },
    async end() {
      over = true
      await watching
    },
  }
}

const LOOK_MS = 250
