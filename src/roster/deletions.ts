import { sameId } from './directory.ts'
import { weekBefore } from './edits.ts'
import type { Loaded } from './load.ts'

/**
 * The ids of deleted devices whose deletion nobody needs: over a week old, none of the last 10,000, and of a device that no
 * file here has. A file of another machine may have it, which nobody else can know: so there are 10,000, which is more than
 * most fleets ever delete, and not none.
 */
export function forgettableDeletions({ edits, files }: Pick<Loaded, 'edits' | 'files'>): string[] {
  const deletions = [...edits.devices].filter(([, { device }]) => device === null)
  if (deletions.length <= MOST_DELETIONS) return []
  const longAgo = weekBefore(edits)
  const hidden = new Set(files.devices.flatMap(({ content }) => content.devices.map(({ device }) => sameId(device.id))))
  const old = deletions.toSorted(([, a], [, b]) => b.at - a.at).slice(MOST_DELETIONS)
  return old.filter(([id, { at }]) => at < longAgo && !hidden.has(id)).map(([id]) => id)
}

const MOST_DELETIONS = 10_000
