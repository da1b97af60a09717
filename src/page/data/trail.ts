import { LINKS, type SystemStatus } from './types.ts'

/** The rates of one quarter of a minute. */
export interface TrailPoint {
  /** Its beginning, ms UTC. */
  readonly at: number
  /** Of the links, in their order; null where they were not known. */
  readonly links: readonly (number | null)[]
  readonly received: number
  readonly delivered: number
}

/** The rates of the last hour as this tab has seen them; they outlive a reload. */
export class Trail {
  #points: TrailPoint[] = read()
  #savedAt = 0

  get points(): readonly TrailPoint[] {
    return this.#points
  }

  add(status: SystemStatus, now: number): void {
    const at = now - (now % STEP_MS)
    const links = LINKS.map((name) => status.links?.find(({ link }) => link === name)?.per_s ?? null)
    const point = { at, links, received: status.rates.received_per_s, delivered: status.rates.delivered_per_s }
    const before = this.#points.filter((other) => other.at < at && other.at > at - HOUR_MS)
    this.#points = [...before, point]
    if (now - this.#savedAt < SAVE_MS) return
    this.#savedAt = now
    sessionStorage.setItem(KEY, JSON.stringify(this.#points))
  }
}

function read(): TrailPoint[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as TrailPoint[]
  } catch {
    return []
  }
}

export const STEP_MS = 15_000
export const HOUR_MS = 3_600_000
const SAVE_MS = 10_000
const KEY = 'waybridge.trail'
