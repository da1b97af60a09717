import type { MadeFix, Trip } from '../rig/vans.ts'

/**
 * How the roster is changed: lines through the admin port, a line in the files of every machine, a device's entry, a line of the past
 * through the admin port, with what was delivered otherwise delivered again.
 */
export type EditKind = 'put' | 'file' | 'device' | 'past'

/** A change of the roster: a van gets a courier and route that nobody else has, nor had. */
export interface Edit {
  readonly kind: EditKind
  readonly device: string
  /** `<courier>/<route>` */
  readonly lane: string
  /** From when on its line holds, unix seconds; -Infinity for a device's entry, which holds for all later fixes. */
  readonly from: number
  /** Of a line of the past: until when it holds, unix seconds. */
  readonly until?: number
  /** ms UTC. */
  readonly askedAt: number
  /** When it was answered 200, or was in the last file. ms UTC. */
  answeredAt?: number
  /** Of a line of the past: whether an answer has said that what was delivered otherwise is delivered again. */
  isPromised?: boolean
  /** Why it was refused for good. */
  refused?: string
}

/** The lanes that a fix of a van may go to: one, or several for a fix that was under way during a change. `edits`: the van's, oldest first. */
export function lanesOf(fix: MadeFix, trip: Trip, edits: readonly Edit[]): string[] {
  let lanes = [trip.lane]
  // A line goes before the entry of its device, whichever was written last.
  const [entries, lines] = [true, false].map((isEntry) => edits.filter(({ kind }) => (kind === 'device') === isEntry))
  for (const edit of [...entries, ...lines]) {
    const { kind, lane, askedAt, answeredAt = Infinity } = edit
    if (!covers(edit, fix) || (fix.ackedAt !== undefined && Math.max(fix.ackedAt, fix.heldUntil ?? 0) < askedAt))
      continue
    if (fix.madeAt > answeredAt + SETTLED_AFTER_MS[kind]) lanes = []
    lanes.push(lane)
  }
  return lanes
}

/** The lanes where lines of the past place a fix, oldest first: it is delivered there as well if it was delivered elsewhere. */
export function correctedLanesOf(fix: MadeFix, edits: readonly Edit[]): string[] {
  return edits.flatMap((edit) => (edit.kind === 'past' && covers(edit, fix) ? edit.lane : []))
}

function covers({ from, until = Infinity }: Edit, { timestamp }: MadeFix): boolean {
  return timestamp >= from && timestamp < until
}

/** A key of a change, the same for the change that is made and that is shown. */
export function keyOf({ device, lane, from }: Pick<Edit, 'device' | 'lane' | 'from'>): string {
  return `${device} ${lane} ${from}`
}

/** A change, in words. */
export function describeEdit({ kind, device, lane, from, until, askedAt }: Edit): string {
  const asked = new Date(askedAt).toISOString().slice(11, 23)
  return `${kind} of ${device} to ${lane}${kind === 'device' ? '' : ` from ${from}${until === undefined ? '' : ` until ${until}`}`}, asked ${asked}`
}

/**
 * How long after its answer a change may not be in effect. A put waits for all gateways, and a gateway that was stopped
 * acknowledges nothing before it has read the roster anew. A file may be read after the process was stopped for 8 s, and written
 * once Redis takes writes again: after a failover of 11 s, and a replica that is frozen next.
 */
export const SETTLED_AFTER_MS = { put: 0, device: 0, past: 0, file: 20_000 } as const satisfies Record<EditKind, number>
