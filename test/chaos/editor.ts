import { setTimeout as pause } from 'node:timers/promises'
import { seeded } from '../../src/sandbox/random.ts'
import type { Site } from '../rig/site.ts'
import type { Trip } from '../rig/vans.ts'
import { type Edit, SETTLED_AFTER_MS } from './edits.ts'
import { assignPast, put, writeLines } from './roster.ts'
import type { System } from './system.ts'

/** Changes the roster until it is settled. */
export interface Editor {
  /** Oldest first. */
  readonly edits: readonly Edit[]
  /** Changes nothing more; resolves once the last change is answered, or `patienceMs` are over. */
  settle(patienceMs: number): Promise<void>
}

export interface EditorOptions {
  readonly site: Site
  readonly system: System
  readonly trips: readonly Pick<Trip, 'id' | 'aheadMs'>[]
  readonly seed: number
}

/**
 * Begins at once: one change after the other, each of the next van; the first van is one whose clock is behind. Every third van
 * is changed by its entry, the others by lines. A line begins late enough that every gateway has it by then, if it is answered
 * soon. Beside these changes others are of the past: a van gets another route from some seconds ago on.
 */
export function startEditor({ site, system, trips, seed }: EditorOptions): Editor {
  const next = planner(trips, seed)
  const edits: Edit[] = []
  const enough = new AbortController()
  const given = new AbortController()
  const paceMs = Math.max(LEAST_PACE_MS, SAME_VAN_MS / trips.length)
  const edited = Promise.all([editAll(next.change), editAll(next.past)])

  async function editAll(plan: (edits: readonly Edit[]) => Edit | undefined): Promise<void> {
    while (!enough.signal.aborted) {
      const edit = plan(edits)
      if (edit) {
        edits.push(edit)
        await write(edit)
      }
      await pause(paceMs, undefined, { signal: enough.signal }).catch(() => {})
    }
  }

  async function write(edit: Edit): Promise<void> {
    if (edit.kind === 'file') await writeLines(edits, site)
    else if (edit.kind === 'past') await untilAnswered(edit, () => assigned(edit))
    else await untilAnswered(edit, () => put(edit, system))
    if (!edit.refused && !given.signal.aborted) edit.answeredAt = Date.now()
  }

  async function assigned(edit: Edit): Promise<Response> {
    const { answer, isPromised } = await assignPast(edit, system)
    edit.isPromised = isPromised
    return answer
  }

  async function untilAnswered(edit: Edit, ask: () => Promise<Response>): Promise<void> {
    while (!given.signal.aborted) {
      const answer = await ask().catch(() => undefined)
      if (answer?.ok) return
      if (answer && !AGAIN.has(answer.status)) return void (edit.refused = `${answer.status} ${await answer.text()}`)
      await pause(AGAIN_MS)
    }
  }

  return {
    edits,
    async settle(patienceMs) {
      enough.abort()
      const patience = setTimeout(() => given.abort(), patienceMs)
      await edited
      clearTimeout(patience)
    },
  }
}

/** Plans the change that follows the changes so far, if there is a van of which the last one was answered long ago. */
function planner(trips: EditorOptions['trips'], seed: number) {
  const random = seeded(~seed)
  const late = trips.findIndex(({ aheadMs }) => aheadMs < 0)
  const vans = late === -1 ? trips : [...trips.slice(late), ...trips.slice(0, late)]
  let [changes, past] = [0, Math.floor(vans.length / 2)]

  function change(edits: readonly Edit[]): Edit | undefined {
    const index = changes % vans.length
    const { id: device } = vans[index]
    if (!isFree(device, edits)) return void changes++
    const kind = index % 3 === 2 ? 'device' : random() < 0.5 ? 'put' : 'file'
    const askedAt = Date.now()
    let from = Math.ceil((askedAt + SETTLED_AFTER_MS[kind] + ANSWERED_MS) / 1000)
    // A put replaces every line that begins in its second.
    while (edits.some((edit) => edit.from === from)) from++
    changes++
    return { kind, device, lane: laneOf(edits), from: kind === 'device' ? -Infinity : from, askedAt }
  }

  return {
    change,
    past(edits: readonly Edit[]): Edit | undefined {
      const van = vans[past++ % vans.length]
      return isFree(van.id, edits) ? pastOf(van, { lane: laneOf(edits), askedAt: Date.now() }) : undefined
    },
  }
}

function laneOf({ length }: readonly Edit[]): string {
  return `${COURIERS_FROM + length}/${ROUTES_FROM + length}`
}

function isFree(id: string, edits: readonly Edit[]): boolean {
  const last = edits.findLast(({ device }) => device === id)
  return last === undefined || (last.answeredAt !== undefined && Date.now() - last.askedAt > SAME_VAN_MS)
}

/** By the clock of the van, which makes the last fixes of this time after the change was asked for. */
function pastOf(
  { id, aheadMs }: EditorOptions['trips'][number],
  { lane, askedAt }: Pick<Edit, 'lane' | 'askedAt'>,
): Edit {
  const from = Math.floor((askedAt + Math.min(aheadMs, 0)) / 1000) - PAST_S
  return { kind: 'past', device: id, lane, from, until: from + PAST_S + COMING_S, askedAt }
}

/** No other van has these. */
const COURIERS_FROM = 1_000_000
const ROUTES_FROM = 2_000_000
const LEAST_PACE_MS = 1000
/** Longer than Redis is ever away: a file is written to the roster before the same van is put, so the put is the last write. */
const SAME_VAN_MS = 20_000
/** A put waits three seconds for a gateway that is stopped. */
const ANSWERED_MS = 4000
const AGAIN_MS = 200
/** Redis does not answer, or others change the roster all the time. */
const AGAIN = new Set([503, 504])
const PAST_S = 25
const COMING_S = 5
