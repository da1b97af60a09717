import type { ServerResponse } from 'node:http'
import { within } from '../../async.ts'
import type { Scope } from '../scope.ts'
import { type EventAudience, type EventData, EventLog, type EventTopic, type FeedEvent, TOPICS } from './event-log.ts'

export interface EventSource {
  readonly topic: EventTopic
  /** Resolves to the news since the previous call; the first call resolves to none. Rejects if Redis does not answer. */
  look(): Promise<readonly EventData[]>
}

export interface FeedSources {
  /** The answer of `GET /admin/status`. */
  readonly status: (scope: Scope) => Promise<object>
  /** Creates what events come from, which is looked at once a second while anybody reads the stream. */
  readonly sources: () => readonly EventSource[]
}

/**
 * Sends what happens to all readers. After five minutes without a reader it stops looking and forgets all events: a
 * client that resumes later gets `reset`.
 */
export class EventFeed {
  readonly #sources: FeedSources
  readonly #readers = new Set<EventReader>()
  /** The jobs to run once a second; they do nothing while the feed rests. */
  readonly jobs = {
    'event streams': () => this.#beat(),
    'status of streams': () => this.#tellStatus(),
    ...Object.fromEntries(TOPICS.map((topic) => [`events of ${topic}`, () => this.#look(topic)])),
  }
  #log = new EventLog()
  #looked: readonly EventSource[] = []
  #waking: Promise<void> | undefined
  #seconds = 0
  /** Seconds without a reader. */
  #aloneS = 0
  #isClosed = false

  constructor(sources: FeedSources) {
    this.#sources = sources
  }

  get size(): number {
    return this.#readers.size
  }

  /** Resolves once everything that happens from now on will be sent. */
  async wake(): Promise<void> {
    this.#aloneS = 0
    this.#waking ??= this.#begin()
    await this.#waking
  }

  /** Adds a reader, and sends it the events that it has missed. */
  add(reader: EventReader): void {
    this.#readers.add(reader)
    reader.begin(this.#log)
    if (this.#isClosed) reader.end()
  }

  remove(reader: EventReader): void {
    this.#readers.delete(reader)
  }

  /** Sends data to all readers of the topic, at once. */
  tell(topic: EventTopic, data: EventData): void {
    if (!this.#waking) return
    const event = this.#log.add(topic, data)
    for (const reader of this.#readers) reader.send(event)
  }

  /** Ends all streams. */
  close(): void {
    this.#isClosed = true
    for (const reader of this.#readers) reader.end()
    this.#rest()
  }

  async #begin(): Promise<void> {
    const sources = this.#sources.sources()
    // A source that cannot be read, since Redis is away, begins later.
    await within(BEGIN_MS, Promise.all(sources.map((source) => source.look().catch(() => {}))))
    if (!this.#isClosed) this.#looked = sources
  }

  #rest(): void {
    this.#looked = []
    this.#waking = undefined
    this.#log = new EventLog()
  }

  async #look(topic: EventTopic): Promise<void> {
    const source = this.#looked.find((each) => each.topic === topic)
    const news = (await source?.look().catch(() => [])) ?? []
    for (const data of news) this.tell(topic, data)
  }

  /** Sends the status, computed once for all readers with the same scope. */
  async #tellStatus(): Promise<void> {
    const readers = this.#readers.values().filter((reader) => reader.follows('status'))
    const scopes = new Map(readers.map(({ scope }) => [scope.key, scope]))
    for (const [key, scope] of scopes) {
      const status = await this.#sources.status(scope).catch(() => undefined)
      if (status) this.tell('status', { dataFor: (other) => (other.key === key ? status : undefined) })
    }
  }

  async #beat(): Promise<void> {
    if (!this.#waking) return
    const isBeat = ++this.#seconds % BEAT_S === 0
    for (const reader of this.#readers) if (isBeat) reader.beat()
    await Promise.all(this.#readers.values().map((reader) => reader.endUnlessAllowed()))
    this.#aloneS = this.#readers.size > 0 ? 0 : this.#aloneS + 1
    if (this.#aloneS > ALONE_S) this.#rest()
  }
}

const BEGIN_MS = 1000
const BEAT_S = 15
const ALONE_S = 300

export interface ReaderOptions extends EventAudience {
  readonly topics: ReadonlySet<EventTopic>
  /** The event that the reader saw last. */
  readonly lastId?: string
  /** Whether the caller is still admitted, with the same scope. */
  readonly isAllowed: () => boolean | Promise<boolean>
}

/** One open stream. */
export class EventReader {
  readonly #response: ServerResponse
  readonly #options: ReaderOptions

  /** Begins the answer: with the events that the reader has missed, or with `reset` if they are not known. */
  constructor(response: ServerResponse, headers: Record<string, unknown>, options: ReaderOptions) {
    this.#response = response
    this.#options = options
    response.on('error', () => {})
    response.writeHead(200, { ...(headers as Record<string, string>), ...HEADERS })
  }

  async endUnlessAllowed(): Promise<void> {
    let isAllowed = false
    const check = Promise.try(this.#options.isAllowed).then((allowed) => (isAllowed = allowed))
    // A reader whose permission cannot be checked now gets nothing more, and delays no other reader.
    await within(CHECK_MS, check).catch(() => {})
    if (!isAllowed) this.end()
  }

  get scope(): ReaderOptions['scope'] {
    return this.#options.scope
  }

  follows(topic: EventTopic): boolean {
    return this.#options.topics.has(topic)
  }

  begin(log: EventLog): void {
    const { lastId } = this.#options
    const missed = lastId === undefined ? [] : log.since(lastId)?.flatMap((event) => this.#bytesOf(event) ?? [])
    const bytes = missed && Buffer.concat(missed)
    // A block without data only carries the id at which to resume.
    this.#write(Buffer.from(`: waybridge\nid: ${log.lastId}\n\n`))
    if (bytes && bytes.length <= REPLAY_BYTES) this.#write(bytes)
    else this.#write(Buffer.from(`id: ${log.lastId}\nevent: reset\ndata: {}\n\n`))
  }

  send(event: FeedEvent): void {
    const bytes = this.#bytesOf(event)
    if (bytes) this.#write(bytes)
  }

  /** Sends a comment that keeps proxies and readers without events from closing the stream. */
  beat(): void {
    this.#write(BEAT)
  }

  end(): void {
    this.#response.end()
    // A reader that does not read would keep the connection open.
    if (this.#response.writableLength > 0) this.#response.destroy()
  }

  #bytesOf(event: FeedEvent): Buffer | undefined {
    return this.follows(event.topic) ? event.bytesFor(this.#options) : undefined
  }

  /** A stream that is not read is closed. When its client connects again, it resumes or is reset. */
  #write(bytes: Buffer): void {
    if (bytes.length === 0 || this.#response.destroyed) return
    if (this.#response.writableLength + bytes.length > MAX_WAITING) this.#response.destroy()
    else this.#response.write(bytes)
  }
}

const CHECK_MS = 2000
const BEAT = Buffer.from(':\n\n')
/** The connection ends with the stream; nginx must not buffer it. */
const HEADERS = { 'content-type': 'text/event-stream', connection: 'close', 'x-accel-buffering': 'no' }
const MAX_WAITING = 1_048_576
/** Leaves room for what happens while it is read. */
const REPLAY_BYTES = 524_288
