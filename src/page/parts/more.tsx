import { useState } from 'preact/hooks'
import { exact } from '../format.ts'
import { words } from '../words/index.ts'

interface MoreOptions {
  /** How many more are shown each time. */
  readonly step?: number
  readonly isSmall?: boolean
}

/** Shows the `first` ones of a list; `more`: a button that shows further ones, if there are any. */
export function useMore<Each>(all: readonly Each[], first: number, { step = 10 * first, isSmall }: MoreOptions = {}) {
  const [most, setMost] = useState(first)
  const more = all.length > most && (
    <button type="button" class={`button quiet ${isSmall ? 'small' : ''}`} onClick={() => setMost(most + step)}>
      {words.more} ({exact(all.length - most)})
    </button>
  )
  return { shown: all.slice(0, most), more }
}
