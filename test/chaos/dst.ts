import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openClock } from '../rig/clock.ts'
import { ZONE } from '../rig/site.ts'

/** When DST begins or ends next in that zone (`dst-begins`, `dst-ends`). Both ms UTC. */
export function nextChange(kind: string, after: number): number {
  const direction = kind === 'dst-begins' ? 1 : -1
  let at = Math.ceil(after / HOUR_MS) * HOUR_MS
  while (Math.sign(aheadOfUtc(at) - aheadOfUtc(at - HOUR_MS)) !== direction) at += HOUR_MS
  return at
}

/** What a clock in that zone shows, as it is written into files: with an offset where it shows the same for the second time. */
export function localTime(seconds: number): string {
  const [now, anHourBefore] = [seconds, seconds - 3600].map((each) => shownAt(each * 1000))
  return now === anHourBefore ? new Date(seconds * 1000).toISOString() : now
}

/** Runs this program again with a clock that shows another time; returns its exit code, undefined if there is no C compiler. */
export async function runAgainAt(at: number): Promise<number | undefined> {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-season-'))
  try {
    const clock = openClock(dir)
    if (!clock) return undefined
    clock.setAhead(at - Date.now())
    return await ended(
      spawn(process.execPath, process.argv.slice(1), { env: { ...process.env, ...clock.env }, stdio: 'inherit' }),
    )
  } finally {
    await rm(dir, { recursive: true })
  }
}

async function ended(child: ChildProcess): Promise<number> {
  const passOn = (signal: NodeJS.Signals) => void child.kill(signal)
  process.on('SIGINT', passOn).on('SIGTERM', passOn)
  const [code] = (await once(child, 'exit')) as [number | null]
  process.off('SIGINT', passOn).off('SIGTERM', passOn)
  return code ?? 1
}

function aheadOfUtc(at: number): number {
  return Date.parse(`${shownAt(at)}Z`) - at
}

/** `2026-10-25 02:30:00` */
function shownAt(at: number): string {
  return FORMAT.format(at)
}

/** The Swedish format of times is that of our files. */
const FORMAT = new Intl.DateTimeFormat('sv-SE', { timeZone: ZONE, dateStyle: 'short', timeStyle: 'medium' })
const HOUR_MS = 3_600_000
