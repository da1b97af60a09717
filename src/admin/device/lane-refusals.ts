import type { Finding } from '../../diagnose/facts.ts'
import { type LaneRefusal, laneRefusals } from '../../diagnose/refusals.ts'
import type { Roster } from '../../roster/roster.ts'
import type { Findings } from '../findings.ts'
import type { DeviceIndex } from './device-index.ts'

interface LaneRefusalSources {
  readonly findings: Pick<Findings, 'facts' | 'current'>
  readonly index: Pick<DeviceIndex, 'inOrder' | 'touch'>
  readonly directory: () => Roster
}

/**
 * Troubles of single lanes: refused whole by the tracking API, or named by a finding. While Redis is away, the last known
 * ones.
 */
export class LaneRefusals {
  readonly #sources: LaneRefusalSources
  #refusals: ReadonlyMap<string, LaneRefusal> = new Map()
  #findings: ReadonlyMap<string, readonly Finding[]> = new Map()

  constructor(sources: LaneRefusalSources) {
    this.#sources = sources
  }

  /** Why the tracking API refuses a lane, by its name. */
  of(lane: string): LaneRefusal | undefined {
    return this.#refusals.get(lane)
  }

  /** The findings about a lane, by its name, that hold. */
  findingsOf(lane: string): readonly Finding[] {
    return this.#findings.get(lane) ?? []
  }

  /** Call it once a second. Marks devices as changed if the trouble of their lane begins or ends. */
  look(): void {
    const { findings, index, directory } = this.#sources
    const lanes = findings.facts?.lanes
    if (!lanes) return
    const before = this.#codes()
    this.#refusals = laneRefusals(lanes)
    this.#findings = Map.groupBy(
      findings.current.filter(({ subject }) => subject.route_id !== undefined && subject.device === undefined),
      ({ subject: { company_id, courier_id, route_id } }) => `${company_id}/${courier_id}/${route_id}`,
    )
    const after = this.#codes()
    const all = new Set([...before.keys(), ...after.keys()])
    const changed = new Set([...all].filter((lane) => before.get(lane) !== after.get(lane)))
    if (changed.size === 0) return
    const now = Date.now() / 1000
    for (const { entry, id } of index.inOrder) {
      const lane = entry && directory().stayAt(entry, now)?.lane.key
      if (lane !== undefined && changed.has(lane)) index.touch(id)
    }
  }

  /** Returns the finding code of each lane in trouble. */
  #codes(): Map<string, string> {
    const lanes = new Set([...this.#refusals.keys(), ...this.#findings.keys()])
    const codesOf = (lane: string) => [this.of(lane)?.code, ...this.findingsOf(lane).map(({ code }) => code)]
    return new Map(Array.from(lanes, (lane) => [lane, codesOf(lane).join()]))
  }
}
