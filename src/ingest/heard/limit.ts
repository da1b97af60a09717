/** Whether something may be noted once more, `now` in ms: six times in any ten minutes. `times`: when it was, the last six. */
export function mayNote(times: number[], now: number): boolean {
  if (times.length === MOST && now - times[0] < WITHIN_MS) return false
  if (times.push(now) > MOST) times.shift()
  return true
}

const MOST = 6
const WITHIN_MS = 600_000
