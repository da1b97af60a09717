/** `Van 1, Van 2 and Van 3`; of many the first ten: `Van 1, … and 5 more`. */
export function listText(names: readonly string[]): string {
  const rest = names.length - MAX_NAMES
  const listed = [...names.slice(0, MAX_NAMES), ...(rest > 0 ? [`${rest} more`] : [])]
  return listed.length < 2 ? listed.join('') : `${listed.slice(0, -1).join(', ')} and ${listed.at(-1)}`
}

/** How many are named of a list. */
export const MAX_NAMES = 10
