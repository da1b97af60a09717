import {
  DecodeError,
  decodeFrame,
  type Fix,
  type HttpRequest,
  isJson,
  MAPPING_PREFIX,
  type MappingDescription,
  type Message,
  mappingProtocol,
  noSettings,
  type Protocol,
  type Session,
  type Transport,
} from '../../protocols/kit/index.ts'
import { readMapping } from '../config/mappings.ts'
import { sameId } from '../domain/ids.ts'
import type { Redis } from '../store/index.ts'
import { type SavedMapping, savedMappings } from '../store/mappings.ts'
import type { Reading } from './outcome.ts'

/**
 * The mappings in effect: those of mappings.yaml, and those saved through the admin port under other names. A listener or a
 * topic names one as its protocol; in addition, all are tried on JSON that the protocol of its port cannot read.
 */
export class Mappings {
  readonly #redis: Redis
  readonly #changed: () => void
  readonly #named = new Map<string, NamedMapping>()
  #ofFile: ReadonlyMap<string, MappingDescription>
  #saved: ReadonlyMap<string, MappingDescription> = new Map()
  #savedText = ''
  #inEffect: readonly Protocol[] = []

  /** `changed` is called after each change. */
  constructor(redis: Redis, ofFile: ReadonlyMap<string, MappingDescription>, changed: () => void) {
    this.#redis = redis
    this.#changed = changed
    this.#ofFile = ofFile
    this.#apply()
  }

  /**
   * Returns the protocol `map:NAME`, the same object even after a change of its mapping; undefined if there is no such
   * mapping.
   */
  named(name: string): Protocol | undefined {
    return this.#inEffect.find((protocol) => protocol.name === name)
  }

  /** mappings.yaml has changed. */
  fileChanged(ofFile: ReadonlyMap<string, MappingDescription>): void {
    this.#ofFile = ofFile
    this.#apply()
    this.#changed()
  }

  /** Loads saved mappings. Call it once a second. Rejects if Redis does not answer. */
  async look(): Promise<void> {
    const saved = await savedMappings(this.#redis)
    const text = JSON.stringify(saved)
    if (text === this.#savedText || (this.#savedText === '' && text === '{}')) return
    this.#savedText = text
    // A later version may have saved mappings that this one cannot read.
    this.#saved = new Map(
      Object.entries(saved).flatMap(([name, json]) => {
        const read = readMapping(name, (JSON.parse(json) as SavedMapping).mapping)
        return 'mapping' in read ? [[name, read.mapping] as const] : []
      }),
    )
    this.#apply()
    this.#changed()
  }

  /** Reads JSON with the first mapping that finds a position in it; undefined: none does, or the JSON is too long to try. */
  read({ frame, session, protocol }: Reading): { readonly protocol: Protocol; readonly message: Message } | undefined {
    if (this.#inEffect.length === 0 || !MAPPED.has(session.transport)) return undefined
    if (sizeOf(frame) > MOST_TRIED_BYTES || !isJson(frame)) return undefined
    const began = performance.now()
    for (const mapping of this.#inEffect) {
      // Only malicious JSON takes this long.
      if (performance.now() - began > MOST_MS) return undefined
      const message = mapping === protocol ? undefined : positionsIn(mapping, frame, session)
      if (message) return { protocol: mapping, message }
    }
    return undefined
  }

  #apply(): void {
    const all = [...new Map([...this.#saved, ...this.#ofFile])]
    this.#inEffect = all.toSorted(byName).map(([name, description]) => {
      let named = this.#named.get(name)
      if (!named) this.#named.set(name, (named = new NamedMapping(name)))
      named.is(mappingProtocol(name, description))
      return named.protocol
    })
  }
}

/** Returns what a mapping reads, if it has a position and, over MQTT, names no other device than the topic does. */
function positionsIn(mapping: Protocol, frame: Buffer | HttpRequest, session: Session): Message | undefined {
  try {
    const found = Buffer.isBuffer(frame) ? mapping.decode?.(frame, session) : mapping.request?.(frame, session)
    if (!found?.fixes?.length) return undefined
    const message = decodeFrame(mapping, frame, session)
    const ofTopic = session.transport === 'mqtt' && session.device !== undefined ? sameId(session.device) : undefined
    const devices = [message.device, ...(message.fixes ?? []).map(({ device }) => device)]
    const isOther = devices.some((id) => ofTopic !== undefined && id !== undefined && sameId(id) !== ofTopic)
    return isOther ? undefined : message
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]) => (one < other ? -1 : 1)

/** A mapping by its name, whatever its present content: listeners and bridges hold its protocol. */
class NamedMapping {
  readonly protocol: Protocol
  #current: Protocol | undefined

  constructor(name: string) {
    this.protocol = {
      name: MAPPING_PREFIX + name,
      devices: `JSON by the mapping ${name}`,
      acknowledges: 'fixes',
      http: { port: 0 },
      decode: (frame, session) => (this.#current as Required<Protocol>).decode(frame, session),
      request: (request, session) => (this.#current as Required<Protocol>).request(request, session),
    }
  }

  is(current: Protocol): void {
    this.#current = current
  }
}

/** JSON that was not understood, and how it arrived. */
interface KeptPayload extends Pick<Session, 'transport' | 'device'> {
  /** ms UTC. */
  readonly at: number
  readonly body: Buffer
  /** The address of a request. */
  readonly uri?: string
}

/** Reads kept JSON by a mapping, as a gateway reads what arrives. `error`: why there is no position. */
export function readPayload(
  mapping: MappingDescription,
  { at, body, device, transport, uri = '/' }: KeptPayload,
): { readonly device?: string; readonly fixes: readonly Fix[]; readonly error?: string } {
  // Treated as a request, also over MQTT: its body is parsed once for all mappings that are tried.
  const frame = { method: 'POST', uri, headers: {}, body }
  const session: Session = { transport, now: at, lenient: false, settingsOf: noSettings, device }
  try {
    const message = decodeFrame(compiled(mapping), frame, session)
    const { fixes = [], none = 'no place' } = message
    return { device: message.device ?? device, fixes, error: fixes.length > 0 ? undefined : none }
  } catch (error) {
    if (error instanceof DecodeError) return { fixes: [], error: error.message }
    throw error
  }
}

function compiled(mapping: MappingDescription): Protocol {
  let protocol = triedMappings.get(mapping)
  if (!protocol) triedMappings.set(mapping, (protocol = mappingProtocol('tried', mapping)))
  return protocol
}

const triedMappings = new WeakMap<MappingDescription, Protocol>()

function sizeOf(frame: Buffer | HttpRequest): number {
  return Buffer.isBuffer(frame) ? frame.length : frame.body.length
}

/** How JSON comes that a mapping may read. */
const MAPPED: ReadonlySet<Transport> = new Set(['http', 'mqtt'])
/** The time for one frame, of all mappings but the last that is tried. */
const MOST_MS = 10
/** Longer JSON is read by the protocol of its port alone. */
const MOST_TRIED_BYTES = 8192
