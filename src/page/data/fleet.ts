import type { DeviceRowJson } from '../../admin/schemas/devices.ts'
import { allOf, api } from './api.ts'
import type { LiveFeed } from './live-feed.ts'
import { token } from './session.ts'

/** All vans, or the first of very many; loaded when somebody first looks at them, then kept up to date. */
export class Fleet {
  readonly #feed: LiveFeed
  #vans: ReadonlyMap<string, DeviceRowJson> = new Map()
  /** Those that have changed since the last load began. */
  #changed = new Map<string, DeviceRowJson>()
  readonly #subscribers = new Set<() => void>()
  #stop: (() => void) | undefined
  #isLoaded = false
  #toldAt = 0
  /** Whether the list must be loaded again after a change of the roster: no event names a deleted van. */
  #mayLack = false
  #error: Error | undefined

  constructor(feed: LiveFeed) {
    this.#feed = feed
  }

  get vans(): ReadonlyMap<string, DeviceRowJson> {
    return this.#vans
  }

  get isLoaded(): boolean {
    return this.#isLoaded
  }

  get error(): Error | undefined {
    return this.#error
  }

  /** Whether there are more vans than a browser should hold: the list's search then asks the admin port. */
  get isCut(): boolean {
    return this.#vans.size >= MOST_VANS
  }

  /** Calls `subscriber` whenever a van changes; vans are only followed while somebody subscribes. Returns how to stop that. */
  subscribe(subscriber: () => void): () => void {
    this.#subscribers.add(subscriber)
    if (this.#subscribers.size === 1) this.#follow()
    return () => {
      this.#subscribers.delete(subscriber)
      if (this.#subscribers.size === 0) this.#stop?.()
    }
  }

  /** Removes all vans: a user with the next token may not be allowed to see them. */
  clear(): void {
    this.#vans = new Map()
    this.#isLoaded = false
  }

  async load(): Promise<void> {
    const own = token()
    this.#mayLack = false
    const changed = (this.#changed = new Map())
    try {
      const vans = await allOf((page) => api.devices(page), MOST_VANS)
      if (token() !== own) return
      this.#vans = new Map([...vans.map((van) => [van.id, van] as const), ...changed])
      this.#isLoaded = true
      this.#error = undefined
    } catch (error) {
      if (token() === own) this.#error = error as Error
      this.#mayLack = true
    }
    this.#tell()
  }

  #follow(): void {
    void this.load()
    const stops = [
      this.#feed.on('device', (data) =>
        this.#merge((data as { results?: readonly DeviceRowJson[] } | undefined)?.results ?? []),
      ),
      this.#feed.on('reset', () => void this.load()),
      ...(['roster', 'audit'] as const).map((topic) => this.#feed.on(topic, () => (this.#mayLack = true))),
    ]
    const timer = setInterval(() => {
      const isTold = this.#feed.isStreaming && Date.now() - this.#toldAt < RELOAD_MS
      if (!document.hidden && (this.#mayLack || !isTold)) void this.load()
    }, RELOAD_MS)
    this.#stop = () => {
      clearInterval(timer)
      for (const stop of stops) stop()
    }
  }

  #merge(changed: readonly DeviceRowJson[]): void {
    this.#toldAt = Date.now()
    for (const van of changed) this.#changed.set(van.id, van)
    if (!this.#isLoaded || changed.length === 0) return
    const vans = new Map(this.#vans)
    for (const van of changed) vans.set(van.id, van)
    this.#vans = vans
    this.#tell()
  }

  #tell(): void {
    for (const subscriber of this.#subscribers) subscriber()
  }
}

const MOST_VANS = 10_000
const RELOAD_MS = 10_000
