import type { StatusJson } from '../../admin/schemas/status.ts'
import { api } from './api.ts'
import { RequestError, stream } from './client.ts'
import { setRosterZone } from './clock.ts'
import { type ServerEvent, serverEvents } from './server-events.ts'

/** The page's knowledge of the system, and how fresh it is. */
export interface LiveState {
  readonly status?: StatusJson
  /** `live`: from the stream; `polled`: asked every two seconds; `lost`: no answer since `since`; `starting`: no data yet. */
  readonly by: 'starting' | 'live' | 'polled' | 'lost'
  /** When something was last heard, ms UTC. */
  readonly heardAt?: number
}

type Topic = 'status' | 'device' | 'finding' | 'arrival' | 'roster' | 'audit' | 'reset'
type OnEvent = (data: unknown) => void

/**
 * Follows the admin port: by its event stream, which is resumed where it broke off, and by asking for the status while there
 * is no stream. The whole page shares one.
 */
export class LiveFeed {
  #state: LiveState = { by: 'starting' }
  readonly #subscribers = new Set<() => void>()
  readonly #listeners = new Map<Topic, Set<OnEvent>>()
  #lastId: string | undefined
  #failures = 0
  #aborting = new AbortController()
  #heardBytesAt = 0
  #poll: ReturnType<typeof setInterval> | undefined
  #timers: ReturnType<typeof setTimeout>[] = []

  get state(): LiveState {
    return this.#state
  }

  get isStreaming(): boolean {
    return this.#state.by === 'live'
  }

  start(): void {
    this.#aborting = new AbortController()
    this.#poll = setInterval(() => void this.#ask(), POLL_MS)
    this.#timers = [setInterval(() => this.#endSilentStream(), CHECK_MS)]
    document.addEventListener('visibilitychange', this.#endSilentStream)
    void this.#ask()
    void this.#follow()
  }

  stop(): void {
    clearInterval(this.#poll)
    for (const timer of this.#timers) clearTimeout(timer)
    document.removeEventListener('visibilitychange', this.#endSilentStream)
    this.#aborting.abort()
    this.#state = { by: 'starting' }
  }

  /** Calls `subscriber` whenever the state changes. Returns how to stop that. */
  subscribe(subscriber: () => void): () => void {
    this.#subscribers.add(subscriber)
    return () => void this.#subscribers.delete(subscriber)
  }

  /** Calls `listener` with the data of each event of a topic; `reset`: events may have been missed. */
  on(topic: Topic, listener: OnEvent): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  async #follow(): Promise<void> {
    const own = this.#aborting
    while (!own.signal.aborted) {
      const attempt = new AbortController()
      const end = () => attempt.abort()
      own.signal.addEventListener('abort', end)
      this.#endStream = end
      await this.#read(attempt.signal).catch((error: unknown) => {
        this.#failures = error instanceof RequestError && error.status === 404 ? NO_STREAM : this.#failures + 1
      })
      own.signal.removeEventListener('abort', end)
      if (this.isStreaming && !own.signal.aborted) this.#set({ ...this.#state, by: 'polled' })
      await new Promise((resolve) => setTimeout(resolve, Math.min(MAX_DELAY_MS, 500 * 2 ** this.#failures)))
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const headers: Record<string, string> = this.#lastId === undefined ? {} : { 'last-event-id': this.#lastId }
    const response = await stream('/admin/events', { query: { topics: TOPICS }, headers, signal })
    this.#failures = 0
    this.#heardBytesAt = Date.now()
    this.#set({ ...this.#state, by: 'live', heardAt: Date.now() })
    for await (const event of serverEvents(response.body!, () => (this.#heardBytesAt = Date.now()))) this.#take(event)
  }

  #take({ id, event, data }: ServerEvent): void {
    if (id !== undefined) this.#lastId = id
    const value = parsed(data)
    if (event === 'status') this.#set({ by: 'live', status: value as StatusJson, heardAt: Date.now() })
    else if (event === 'reset') void this.#ask(true)
    for (const listener of this.#listeners.get(event as Topic) ?? []) listener(value)
  }

  async #ask(always = false): Promise<void> {
    const isQuiet = this.isStreaming && Date.now() - (this.#state.heardAt ?? 0) < 2 * POLL_MS
    if (!always && (isQuiet || (document.hidden && this.#state.status))) return
    try {
      const status = await api.status()
      this.#set({ by: this.isStreaming ? 'live' : 'polled', status, heardAt: Date.now() })
    } catch {
      if (!this.isStreaming) this.#set({ ...this.#state, by: 'lost' })
    }
  }

  /** The port sends its status each second. If it freezes, or the computer has slept, nothing else shows it. */
  #endSilentStream = (): void => {
    if (this.isStreaming && Date.now() - this.#heardBytesAt > SILENCE_MS) this.#endStream()
    if (!document.hidden) void this.#ask()
  }
  #endStream = (): void => {}

  #set(state: LiveState): void {
    if (this.#aborting.signal.aborted) return
    if (state.status) setRosterZone(state.status.time_zone)
    this.#state = state
    for (const subscriber of this.#subscribers) subscriber()
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const TOPICS = 'status,device,finding,arrival,roster,audit'
const POLL_MS = 2000
const CHECK_MS = 2000
const SILENCE_MS = 8000
const MAX_DELAY_MS = 15_000
/** Failures that count for a port without a stream: it is asked again after the longest delay. */
const NO_STREAM = 10
