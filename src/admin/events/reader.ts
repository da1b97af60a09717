import type { ServerResponse } from 'node:http'
import type { EventAudience, EventLog, EventTopic, FeedEvent } from './log.ts'

export interface ReaderOptions extends EventAudience {
  readonly topics: ReadonlySet<EventTopic>
  /** The event that the reader saw last. */
  readonly lastId?: string
  /** Whether its token is still valid, and sees the same. */
  readonly isAllowed: () => boolean
}

/** One open stream. */
export class EventReader {
  readonly #response: ServerResponse
  readonly #options: ReaderOptions

  /** Begins the answer: with what the reader has missed, or with a `reset` where that is not known. */
  constructor(response: ServerResponse, headers: Record<string, unknown>, options: ReaderOptions) {
    this.#response = response
    this.#options = options
    response.on('error', () => {})
    response.writeHead(200, { ...(headers as Record<string, string>), ...HEADERS })
  }

  get isAllowed(): boolean {
    return this.#options.isAllowed()
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
    // A block without data tells where to resume, and nothing else.
    this.#write(Buffer.from(`: waybridge\nid: ${log.lastId}\n\n`))
    if (bytes && bytes.length <= REPLAY_BYTES) this.#write(bytes)
    else this.#write(Buffer.from(`id: ${log.lastId}\nevent: reset\ndata: {}\n\n`))
  }

  send(event: FeedEvent): void {
    const bytes = this.#bytesOf(event)
    if (bytes) this.#write(bytes)
  }

  /** Shows that the stream is alive: for proxies, and for a reader who hears of nothing else. */
  beat(): void {
    this.#write(BEAT)
  }

  end(): void {
    this.#response.end()
    // Somebody who does not read would keep the connection open.
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

const BEAT = Buffer.from(':\n\n')
/** The connection ends with the stream; nginx must not buffer it. */
const HEADERS = { 'content-type': 'text/event-stream', connection: 'close', 'x-accel-buffering': 'no' }
const MAX_WAITING = 1_048_576
/** Leaves room for what happens while it is read. */
const REPLAY_BYTES = 524_288
