import { useEffect, useRef } from 'preact/hooks'
import { feed } from './hooks.ts'
import type { LiveFeed } from './live-feed.ts'

/** Calls `again` when one of these topics has an event, or some events may have been missed; at most once a second. */
export function useRefresh(topics: readonly Parameters<LiveFeed['on']>[0][], again: () => void): void {
  const latest = useRef(again)
  latest.current = again
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        latest.current()
      }, LEAST_MS)
    }
    const stops = [...topics, 'reset' as const].map((topic) => feed.on(topic, soon))
    return () => {
      clearTimeout(timer)
      for (const stop of stops) stop()
    }
  }, [])
}

const LEAST_MS = 1000
