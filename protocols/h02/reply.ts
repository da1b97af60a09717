/** An answer with these words; to a device that calls itself *TH it is *HQ too. */
export function replyOf(id: string, words: string): Buffer {
  return Buffer.from(`*HQ,${id},${words}#`, 'latin1')
}

/** What confirms a position that is no V1. `now`: ms UTC. */
export function confirmation(id: string, now: number): Buffer {
  return replyOf(id, `R12,${clock(now).slice(8)}`)
}

/** YYYYMMDDhhmmss of an instant, ms UTC. */
export function clock(now: number): string {
  const second = Math.floor(now / 1000)
  if (second !== last.second)
    last = { second, text: new Date(second * 1000).toISOString().replace(/\D/g, '').slice(0, 14) }
  return last.text
}

/** Thousands of frames arrive within one second. */
let last = { second: Number.NaN, text: '' }
