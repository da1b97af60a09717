import { createHash } from 'node:crypto'
import { type ArrivedSender, sendersNotUnderstood } from '../../store/arrivals.ts'
import { readFrames, type Store } from '../../store/index.ts'
import { contentOf, type MisunderstoodFrame } from '../../store/misunderstood-frame.ts'

/** A kept JSON payload that was not understood. */
export interface UnreadPayload {
  /** ms UTC. */
  readonly at: number
  readonly transport: ArrivedSender['transport']
  /** The protocol of its port or topic. */
  readonly protocol: string | undefined
  /** The device of its topic. */
  readonly device: string | undefined
  /** The address of a request. */
  readonly uri: string | undefined
  readonly text: string
  /** The same as bytes, once for all mappings that are tried. */
  readonly body: Buffer
  readonly json: unknown
}

/**
 * Resolves to the JSON that was not understood, latest first: of arrivals (see gateway/arrivals.ts), and of kept frames.
 * Reads and parses it in small steps, so that Redis and this process can do other work in between.
 */
export async function unreadPayloads(redis: Store): Promise<UnreadPayload[]> {
  const [ofSenders, ofFrames] = await Promise.all([payloadsOfSenders(redis), payloadsOfFrames(redis)])
  return [...ofSenders, ...ofFrames].toSorted((one, other) => other.at - one.at).slice(0, MOST_PAYLOADS)
}

async function payloadsOfSenders(redis: Store): Promise<UnreadPayload[]> {
  const found = new Map<string, UnreadPayload>()
  for await (const { address, at, bytes = '', json: text = '', protocol, transport } of sendersNotUnderstood(redis)) {
    const json = parsed(text)
    if (json === undefined) continue
    const payload = {
      at,
      transport,
      protocol,
      device: undefined,
      uri: uriIn(bytes),
      text,
      body: Buffer.from(text),
      json,
    }
    found.set(`${at} ${address} ${text}`, payload)
    if (found.size === MOST_PAYLOADS) break
  }
  return [...found.values()]
}

async function payloadsOfFrames(redis: Store): Promise<UnreadPayload[]> {
  const found: UnreadPayload[] = []
  let before: string | undefined
  for (let looked = 0; looked < MOST_FRAMES; looked += FRAMES_AT_ONCE) {
    const frames = await readFrames(redis, { before, count: FRAMES_AT_ONCE })
    for (const { text } of frames) found.push(...payloadsIn(JSON.parse(text) as MisunderstoodFrame))
    before = frames.at(-1)?.id
    if (before === undefined) break
  }
  return found
}

function payloadsIn(frame: MisunderstoodFrame): UnreadPayload[] {
  const { at, device, protocol, reason, transport } = frame
  if ((transport !== 'http' && transport !== 'mqtt') || reason === 'guessed') return []
  const content = contentOf(frame)
  const { body, uri } = Buffer.isBuffer(content) ? { body: content, uri: undefined } : content
  if (body.length > MOST_BYTES) return []
  const text = body.toString()
  const json = parsed(text)
  return json === undefined
    ? []
    : [{ at, transport, protocol, device: transport === 'mqtt' ? device : undefined, uri, text, body, json }]
}

/** Returns the object or list in a text; undefined if there is none, which may be because of a masked secret. */
function parsed(text: string): object | undefined {
  try {
    const json: unknown = /^\s*[[{]/.test(text) ? JSON.parse(text) : undefined
    return typeof json === 'object' && json !== null ? json : undefined
  } catch {
    return undefined
  }
}

/** The address in the first line of a request: `POST /webhook?id=7`. */
function uriIn(bytes: string): string | undefined {
  const [line] = Buffer.from(bytes, 'hex').toString().split('\n', 1)
  return /^[A-Z]+ (\S+)/.exec(line)?.[1]
}

/**
 * Returns what payloads of one kind have in common: their transport, and the names in their upper levels; a digest if these
 * are many or long. It is used in URLs.
 */
export function kindOfPayload({ transport, protocol, json }: UnreadPayload): string {
  const names = new Set<string>()
  const look = (value: unknown, path: string, depth: number): void => {
    if (path.length > MOST_OF_PATH) return
    if (Array.isArray(value)) look(value[0], `${path}[]`, depth)
    else if (typeof value === 'object' && value !== null && depth > 0 && names.size < MOST_NAMES)
      for (const [key, each] of Object.entries(value)) {
        names.add(`${path}.${key}`)
        look(each, `${path}.${key}`, depth - 1)
      }
  }
  look(json, '', 2)
  const said = [...names].toSorted().join(' ')
  const short = said.length > MOST_OF_KIND ? createHash('sha256').update(said).digest('base64url') : said
  return [transport, protocol, short].join(' ')
}

const MOST_FRAMES = 200
const FRAMES_AT_ONCE = 20
const MOST_PAYLOADS = 200
const MOST_BYTES = 16_384
const MOST_NAMES = 200
const MOST_OF_PATH = 500
const MOST_OF_KIND = 500
