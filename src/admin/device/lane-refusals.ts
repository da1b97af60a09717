import { type LaneRefusal, laneRefusals } from '../../diagnose/upstream.ts'
import type { Roster } from '../../roster/roster.ts'
import type { Findings } from '../findings.ts'
import type { DeviceIndex } from './device-index.ts'

interface LaneRefusalSources {
  readonly findings: Pick<Findings, 'facts'>
  readonly index: Pick<DeviceIndex, 'inOrder' | 'touch'>
  readonly directory: () => Roster
}

/** The lanes that the tracking API refuses whole; while Redis is away, those from before. */
export class LaneRefusals {
  readonly #sources: LaneRefusalSources
  #refusals: ReadonlyMap<string, LaneRefusal> = new Map()

  constructor(sources: LaneRefusalSources) {
    this.#sources = sources
  }

  /** Why the tracking API refuses a lane, by its name. */
  of(lane: string): LaneRefusal | undefined {
    return this.#refusals.get(lane)
  }

  /** Call it once a second: devices whose lane is refused now, or is no longer, count as changed. */
  look(): void {
    const { findings, index, directory } = this.#sources
    const lanes = findings.facts?.lanes
    if (!lanes) return
    const before = this.#refusals
    this.#refusals = laneRefusals(lanes)
    const changed = new Set<string>()
    for (const lane of new Set([...before.keys(), ...this.#refusals.keys()]))
      if (before.get(lane)?.code !== this.#refusals.get(lane)?.code) changed.add(lane)
    if (changed.size === 0) return
    const now = Date.now() / 1000
    for (const { entry, id } of index.inOrder) {
      const lane = entry && directory().stayAt(entry, now)?.lane.key
      if (lane !== undefined && changed.has(lane)) index.touch(id)
    }
  }
}
