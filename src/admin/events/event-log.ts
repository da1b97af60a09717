import { randomBytes } from 'node:crypto'
import { sameId } from '../../domain/ids.ts'
import { type Language, toJson } from '../../texts/language.ts'
import { EVERYTHING, type Scope } from '../scope.ts'

/** Topics of the event stream. */
export const TOPICS = ['status', 'device', 'finding', 'arrival', 'roster', 'audit'] as const
export type EventTopic = (typeof TOPICS)[number]

/**
 * The content of an event: one thing, of one device or none, as a scope may see it (undefined: not at all); or rows of
 * several devices.
 */
export type EventData =
  | { readonly dataFor: (scope: Scope) => object | undefined; readonly device?: string }
  | { readonly rows: readonly { readonly id: string; readonly company_id?: string }[] }

/** Selects the events of a reader: those in its scope; if it follows one device, only those of this device. */
export interface EventAudience {
  readonly scope: Scope
  readonly language: Language
  readonly device?: string
}

/** One event as it is sent. Its JSON is built once per language for all readers that may see everything. */
export interface FeedEvent {
  readonly number: number
  readonly topic: EventTopic
  /** The event in English, for a reader that may see everything. */
  readonly bytes: Buffer
  /** Returns the event for a reader; undefined: the reader does not get it. */
  bytesFor(audience: EventAudience): Buffer | undefined
}

/**
 * The last events, by id: `<log>-<number>`. A status is not kept, since the next one replaces it. Events that are too old, or
 * of another process, are unknown.
 */
export class EventLog {
  readonly #name = randomBytes(6).toString('hex')
  #events: FeedEvent[] = []
  #bytes = 0
  #number = 0
  /** The number of the latest event that was dropped. */
  #forgotten = 0

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

  /** Returns the events after the one with this id, oldest first; undefined if some of them were dropped. */
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
  const jsonFor = 'rows' in data ? rowsIn(data.rows) : (audience: EventAudience) => jsonOf(data, event.topic, audience)
  const bytesIn = (language: Language) => {
    const json = jsonFor({ scope: EVERYTHING, language })
    return json === undefined ? Buffer.alloc(0) : frame(json)
  }
  const whole = new Map<Language, Buffer>([['en', bytesIn('en')]])
  return {
    ...event,
    bytes: whole.get('en') as Buffer,
    bytesFor(audience) {
      const { device, language, scope } = audience
      if (!scope.isAll || device !== undefined) {
        const json = jsonFor(audience)
        return json === undefined ? undefined : frame(json)
      }
      const bytes = whole.get(language) ?? bytesIn(language)
      whole.set(language, bytes)
      return bytes
    },
  }
}

function rowsIn(rows: Extract<EventData, { rows: unknown }>['rows']) {
  const texts = new Map<Language, readonly string[]>()
  const textsIn = (language: Language) => {
    const known = texts.get(language) ?? rows.map((row) => toJson(row, language))
    texts.set(language, known)
    return known
  }
  return ({ scope, language, device }: EventAudience): string | undefined => {
    const own = device === undefined ? undefined : sameId(device)
    const isSeen = ({ id, company_id }: (typeof rows)[number]) =>
      scope.sees(company_id) && (own === undefined || own === sameId(id))
    const seen = textsIn(language).filter((_, index) => isSeen(rows[index]))
    return seen.length === 0 ? undefined : `{"results":[${seen.join()}]}`
  }
}

function jsonOf(
  { dataFor, device }: Exclude<EventData, { rows: unknown }>,
  topic: EventTopic,
  { scope, language, device: own }: EventAudience,
): string | undefined {
  if (own !== undefined && OF_DEVICES.has(topic) && sameId(device ?? '') !== sameId(own)) return undefined
  const data = dataFor(scope)
  return data && toJson(data, language)
}

/** Topics that a reader of one device gets for this device alone. */
const OF_DEVICES: ReadonlySet<EventTopic> = new Set(['device', 'finding', 'arrival'])
const KEPT = 1000
const KEPT_BYTES = 8 * 1_048_576
