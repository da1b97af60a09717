import { randomBytes } from 'node:crypto'
import { sameId } from '../../config/units.ts'

/** What readers of the event stream may follow. */
export const TOPICS = ['status', 'device', 'finding', 'arrival', 'roster', 'audit'] as const
export type EventTopic = (typeof TOPICS)[number]

/** What readers are told: one thing, of one device or none; or rows of several devices. */
export type EventData =
  | { readonly data: object; readonly device?: string }
  | { readonly rows: readonly { readonly id: string }[] }

/** One event as it is sent. Its JSON is made once for all readers. */
export interface FeedEvent {
  readonly number: number
  readonly topic: EventTopic
  readonly bytes: Buffer
  /** As it is sent to who follows one device; undefined: it is not about that device. */
  of(device: string): Buffer | undefined
}

/**
 * The last events, by their ids: `<log>-<number>`. A status is not kept, since the next one says more. What is too old to be
 * here, or of the log of another process, is not known.
 */
export class EventLog {
  readonly #name = randomBytes(6).toString('hex')
  #events: FeedEvent[] = []
  #bytes = 0
  #number = 0
  /** Of the last event that is not kept any more. */
  #forgotten = 0

  /** Of the last event. */
  get lastId(): string {
    return this.#id(this.#number)
  }

  add(topic: EventTopic, data: EventData): FeedEvent {
    const event = eventOf({ id: this.#id(++this.#number), number: this.#number, topic }, data)
    if (topic === 'status') return event
    this.#events.push(event)
    this.#bytes += event.bytes.length
    while (this.#events.length > KEPT || this.#bytes > KEPT_BYTES) {
      const [{ bytes, number }] = this.#events.splice(0, 1)
      this.#bytes -= bytes.length
      this.#forgotten = number
    }
    return event
  }

  /** The events after the one with this id, oldest first; undefined: some of them are not known any more. */
  since(id: string): readonly FeedEvent[] | undefined {
    const [name, text = ''] = id.split('-')
    const after = /^\d{1,15}$/.test(text) ? Number(text) : -1
    if (name !== this.#name || after < this.#forgotten || after > this.#number) return undefined
    return this.#events.filter(({ number }) => number > after)
  }

  #id(number: number): string {
    return `${this.#name}-${number}`
  }
}

function eventOf({ id, ...event }: Pick<FeedEvent, 'number' | 'topic'> & { id: string }, data: EventData): FeedEvent {
  const frame = (json: string) => Buffer.from(`id: ${id}\nevent: ${event.topic}\ndata: ${json}\n\n`)
  if ('rows' in data) {
    const rows = new Map(data.rows.map((row) => [sameId(row.id), JSON.stringify(row)]))
    const list = (some: readonly string[]) => frame(`{"results":[${some.join()}]}`)
    const one = (row: string | undefined) => row && list([row])
    return { ...event, bytes: list([...rows.values()]), of: (device) => one(rows.get(sameId(device))) || undefined }
  }
  const bytes = frame(JSON.stringify(data.data))
  const isOf = (device: string) => sameId(data.device ?? '') === sameId(device)
  return { ...event, bytes, of: (device) => (!OF_DEVICES.has(event.topic) || isOf(device) ? bytes : undefined) }
}

/** What somebody is not told who follows another device. */
const OF_DEVICES: ReadonlySet<EventTopic> = new Set(['device', 'finding', 'arrival'])
const KEPT = 1000
const KEPT_BYTES = 8 * 1_048_576
