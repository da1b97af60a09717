import type { DeviceRowJson } from '../../admin/schemas/devices.ts'
import type { Tone } from '../data/van.ts'

/** A point in widths of the world. */
export interface WorldPoint {
  readonly x: number
  readonly y: number
}

/** A van with its position. */
export interface PlacedVan extends WorldPoint {
  readonly van: DeviceRowJson
  readonly tone: Tone
}

/** A mark at one point: a van, or several that would cover each other. */
export interface Marker extends WorldPoint {
  /** Stays the same while the marker has the same first van. */
  readonly key: string
  readonly vans: readonly PlacedVan[]
  readonly tone: Tone
}

/**
 * Joins vans that are less than `CLUSTER_PX` apart into clusters, in their order. A van of `alone` is never in a cluster;
 * from zoom `SINGLE_ZOOM` on, none is.
 */
export function markersOf(vans: readonly PlacedVan[], zoom: number, alone: string | undefined): Marker[] {
  if (zoom >= SINGLE_ZOOM) return vans.map(single)
  const reach = CLUSTER_PX / (256 * 2 ** zoom)
  const cells = new Map<number, PlacedVan[]>()
  const cellOf = (x: number, y: number) => Math.floor(y / reach) * CELLS + Math.floor(x / reach)
  for (const placed of vans) {
    if (placed.van.id === alone) continue
    const cell = cellOf(placed.x, placed.y)
    const found = cells.get(cell)
    if (found) found.push(placed)
    else cells.set(cell, [placed])
  }
  const taken = new Set<PlacedVan>()
  const markers: Marker[] = []
  for (const placed of vans) {
    if (taken.has(placed)) continue
    if (placed.van.id === alone) {
      markers.push(single(placed))
      continue
    }
    const near: PlacedVan[] = []
    for (let dy = -1; dy <= 1; dy++)
      for (let dx = -1; dx <= 1; dx++)
        for (const other of cells.get(cellOf(placed.x + dx * reach, placed.y + dy * reach)) ?? [])
          if (!taken.has(other) && (other.x - placed.x) ** 2 + (other.y - placed.y) ** 2 < reach ** 2) near.push(other)
    if (near.length < FEWEST_IN_CLUSTER) markers.push(single(placed))
    else {
      for (const other of near) taken.add(other)
      markers.push(cluster(placed, near))
    }
  }
  return markers
}

function single(placed: PlacedVan): Marker {
  return { key: placed.van.id, vans: [placed], tone: placed.tone, x: placed.x, y: placed.y }
}

function cluster(first: PlacedVan, vans: readonly PlacedVan[]): Marker {
  const numbers = new Map<Tone, number>()
  let [x, y] = [0, 0]
  for (const placed of vans) {
    x += placed.x / vans.length
    y += placed.y / vans.length
    numbers.set(placed.tone, (numbers.get(placed.tone) ?? 0) + 1)
  }
  return { key: `cluster ${first.van.id}`, vans, tone: worstOf(numbers), x, y }
}

/** Returns the worst tone among the vans; if all are well, the most frequent one. */
function worstOf(numbers: ReadonlyMap<Tone, number>): Tone {
  const worst = WORST_FIRST.find((tone) => numbers.has(tone))
  if (worst) return worst
  return [...numbers].reduce((most, each) => (each[1] > most[1] ? each : most))[0]
}

/** Tones that need attention, worst first. */
const WORST_FIRST: readonly Tone[] = ['refused', 'silent', 'gps_old', 'held', 'no_route', 'unknown', 'never']
/** More than the number of cells in the width of the world. */
const CELLS = 2 ** 24
const CLUSTER_PX = 26
const FEWEST_IN_CLUSTER = 3
const SINGLE_ZOOM = 16
