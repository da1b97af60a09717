import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import type { DeviceRowJson } from '../../admin/schemas/devices.ts'
import type { StatusJson } from '../../admin/schemas/status.ts'
import { Fleet } from './fleet.ts'
import { LiveFeed, type LiveState } from './live-feed.ts'

export const feed = new LiveFeed()
export const fleet = new Fleet(feed)

/** The state of the system, which changes every second or two. */
export function useLive(): LiveState {
  const redraw = useRedraw()
  useEffect(() => feed.subscribe(redraw), [])
  return feed.state
}

/** The companies that are configured, or those of the token. */
export function useCompanies(): NonNullable<StatusJson['companies']> {
  return useLive().status?.companies ?? []
}

/** All vans, in the order of the list. */
export function useFleet(): { vans: readonly DeviceRowJson[]; isLoaded: boolean; isCut: boolean; error?: Error } {
  const redraw = useRedraw()
  useEffect(() => fleet.subscribe(redraw), [])
  const vans = useMemo(() => [...fleet.vans.values()], [fleet.vans])
  return { vans, isLoaded: fleet.isLoaded, isCut: fleet.isCut, error: fleet.error }
}

/** The time, ms UTC; redraws at this interval, so that ages grow. */
export function useNow(everyMs = 1000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

interface Answered<Answer> {
  readonly answer?: Answer
  readonly error?: Error
  readonly isLoading: boolean
  readonly again: () => void
}

/**
 * Returns the answer to `ask`, which is called when `key` changes and, with `everyMs`, repeatedly while the page is visible.
 * Drops an answer that comes after a newer key, or after the answer to a later call; after an error the last answer stays.
 */
export function useAsked<Answer>(key: string, ask: () => Promise<Answer>, everyMs?: number): Answered<Answer> {
  const [state, setState] = useState<{ key: string; answer?: Answer; error?: Error }>({ key })
  const [round, again] = useReducer((count: number) => count + 1, 0)
  const calls = useRef({ key, made: 0, answered: 0 }).current
  calls.key = key
  useEffect(() => {
    const run = () => {
      const call = ++calls.made
      // Not only the answer to the last call: `again` may be called faster than the admin port answers.
      const isNews = () => {
        if (calls.key !== key || call < calls.answered) return false
        calls.answered = call
        return true
      }
      return ask().then(
        (answer) => isNews() && setState({ key, answer }),
        (error: Error) => isNews() && setState((before) => ({ ...(before.key === key ? before : { key }), error })),
      )
    }
    void run()
    const timer = everyMs && setInterval(() => void (document.hidden || run()), everyMs)
    return () => clearInterval(timer)
  }, [key, round, everyMs])
  const { answer, error } = state.key === key ? state : {}
  return { answer, error, isLoading: answer === undefined && error === undefined, again: () => again(undefined) }
}

/** Calls `listener` for each event of a topic while the component is there. */
export function useEvents(topic: Parameters<LiveFeed['on']>[0], listener: (data: unknown) => void): void {
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => feed.on(topic, (data) => latest.current(data)), [topic])
}

function useRedraw(): () => void {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  return () => redraw(undefined)
}
