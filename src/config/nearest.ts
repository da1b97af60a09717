/** `unknown key "max_wiat": did you mean max_wait?`, or the known ones where none is near and they are few. */
export function unknownName(kind: string, name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  if (near !== undefined) return `unknown ${kind}: did you mean ${near}?`
  return known.length === 0 ? `unknown ${kind}` : `unknown ${kind}: expected one of ${known.join(', ')}`
}

/** The known name that is at most a third of its letters away from `name`. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  let least = Infinity
  for (const candidate of known) {
    const edits = distance(name.toLowerCase().slice(0, 64), candidate.toLowerCase())
    if (edits <= Math.max(1, candidate.length / 3) && edits < least) {
      best = candidate
      least = edits
    }
  }
  return best
}

/** Letters to insert, delete, replace or swap with their neighbour, to get from one word to the other. */
function distance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = last[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1)
      row[j] = Math.min(replaced, last[j] + 1, row[j - 1] + 1)
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        row[j] = Math.min(row[j], beforeLast[j - 2] + 1)
    }
    beforeLast = last
    last = row
  }
  return last[to.length]
}
