import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'

/** One event as it came. */
interface CameEvent {
  readonly id?: string
  readonly event: string
  readonly data: unknown
}

/** A stream of server-sent events over a connection of its own. */
export interface Followed {
  readonly status: number
  /** Everything that came. */
  text(): string
  events(topic?: string): CameEvent[]
  /** The last id that was told, as browsers keep it. */
  lastId(): string | undefined
  readonly isEnded: boolean
  /** Reads nothing more. */
  pause(): void
  close(): void
}

/** Follows the events at a URL; resolves with the head of the answer. */
export async function followEvents(url: string, headers: Record<string, string>): Promise<Followed> {
  const request = get(url, { headers, agent: false })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  let isEnded = false
  answer.setEncoding('utf8').on('data', (part: string) => (text += part))
  for (const end of ['end', 'close', 'error']) answer.on(end, () => (isEnded = true))
  request.on('error', () => {})
  const blocks = () =>
    text
      .split('\n\n')
      .slice(0, -1)
      .map(
        (block) =>
          new Map(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.replace(/^\w*: ?/, '')])),
      )
  return {
    status: answer.statusCode ?? 0,
    text: () => text,
    events: (topic) =>
      blocks()
        .filter((block) => block.has('data') && (topic ?? block.get('event')) === block.get('event'))
        .map((block) => ({
          id: block.get('id'),
          event: block.get('event') ?? '',
          data: JSON.parse(block.get('data') ?? '') as unknown,
        })),
    lastId: () =>
      blocks()
        .findLast((block) => block.has('id'))
        ?.get('id'),
    get isEnded() {
      return isEnded
    },
    pause: () => void answer.pause(),
    close: () => void request.destroy(),
  }
}
