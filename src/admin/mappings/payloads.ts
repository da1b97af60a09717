import { type ArrivedSender, surveyArrivals } from '../../store/arrivals.ts'
import { readFrames, type Store } from '../../store/index.ts'
import { contentOf, type MisunderstoodFrame } from '../../store/misunderstood-frame.ts'

/** JSON that nobody understood, as it is kept. */
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

/** The JSON that nobody understood, the latest first: of senders (see gateway/arrivals.ts), and of kept frames. */
export async function unreadPayloads(redis: Store): Promise<UnreadPayload[]> {
  const [arrivals, frames] = await Promise.all([
    surveyArrivals(
      redis,
      () => true,
      ({ json }) => json !== undefined,
    ),
    readFrames(redis, { count: MOST_FRAMES }),
  ])
  const ofSenders = arrivals.flatMap(({ at, bytes = '', json: text = '', protocol, transport }) => {
    const json = parsed(text)
    return json === undefined
      ? []
      : [{ at, transport, protocol, device: undefined, uri: uriIn(bytes), text, body: Buffer.from(text), json }]
  })
  const ofFrames = frames.flatMap(({ text: frame }) => payloadOf(JSON.parse(frame) as MisunderstoodFrame) ?? [])
  return [...ofSenders, ...ofFrames].toSorted((one, other) => other.at - one.at).slice(0, MOST_PAYLOADS)
}

function payloadOf(frame: MisunderstoodFrame): UnreadPayload | undefined {
  const { at, device, protocol, reason, transport } = frame
  if ((transport !== 'http' && transport !== 'mqtt') || reason === 'guessed') return undefined
  const content = contentOf(frame)
  const { body, uri } = Buffer.isBuffer(content) ? { body: content, uri: undefined } : content
  if (body.length > MOST_BYTES) return undefined
  const text = body.toString()
  const json = parsed(text)
  return json === undefined
    ? undefined
    : { at, transport, protocol, device: transport === 'mqtt' ? device : undefined, uri, text, body, json }
}

/** The object or list of a text; undefined if it is none: a secret in it may be masked. */
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

/** What two payloads of one kind have in common: how they come, and the names in the upper levels. */
export function kindOfPayload({ transport, protocol, json }: UnreadPayload): string {
  const names = new Set<string>()
  const look = (value: unknown, path: string, depth: number): void => {
    if (Array.isArray(value)) look(value[0], `${path}[]`, depth)
    else if (typeof value === 'object' && value !== null && depth > 0 && names.size < MOST_NAMES)
      for (const [key, each] of Object.entries(value)) {
        names.add(`${path}.${key}`)
        look(each, `${path}.${key}`, depth - 1)
      }
  }
  look(json, '', 2)
  return [transport, protocol, ...[...names].toSorted()].join(' ')
}

const MOST_FRAMES = 200
const MOST_PAYLOADS = 200
const MOST_BYTES = 16_384
const MOST_NAMES = 200
