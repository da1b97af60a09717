import type * as z from 'zod'
import { yieldToEventLoop } from '../../async.ts'
import type { Assignment } from '../../roster/assignment.ts'
import type { DeviceEntry } from '../../roster/device-entry.ts'
import type { Roster } from '../../roster/roster.ts'
import { instant, type VanChangeJson } from '../json.ts'

interface RosterStep {
  readonly changing: Iterable<DeviceEntry>
  readonly before: Roster
  readonly after: Roster
}

/** The lines that devices lose and those that they get, of the first 1,000 devices with such lines: what a dry run shows. */
export async function changesOf({ changing, before, after }: RosterStep): Promise<z.infer<typeof VanChangeJson>[]> {
  const changes: z.infer<typeof VanChangeJson>[] = []
  for (const device of changing) {
    await yieldToEventLoop()
    const [old, now] = [before, after].map((roster) => linesOf(roster, device))
    const [lost, got] = [linesBeside(old, now), linesBeside(now, old)]
    if (lost.length + got.length > 0) changes.push({ device: device.id, name: device.name, before: lost, after: got })
    if (changes.length >= MOST) break
  }
  return changes
}

/** By what they say. */
function linesOf(roster: Roster, device: DeviceEntry): ReadonlyMap<string, Assignment> {
  const lines = roster.assignmentsOf(device)
  return new Map(lines.map((line) => [`${line.from} ${line.until} ${line.courier_id} ${line.route_id}`, line]))
}

function linesBeside(lines: ReadonlyMap<string, Assignment>, others: ReadonlyMap<string, Assignment>) {
  return Array.from(lines)
    .filter(([text]) => !others.has(text))
    .map(([, { courier_id, route_id, from, until }]) => ({
      courier_id,
      route_id,
      from_at: instant(from * 1000),
      until_at: instant(until * 1000),
    }))
    .toSorted((one, other) => (one.from_at ?? '').localeCompare(other.from_at ?? ''))
}

const MOST = 1000
